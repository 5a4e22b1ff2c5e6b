package mail

import (
	"context"
	"encoding/json"

	"golang.org/x/sync/errgroup"

	"tallyhouse/ingest/mail/mailbox"
)

// A mail belongs to the projects that its recipients' addresses lead to when one of them is first known (docs/mail.md#whose-a-mail-is).
// It is noted beside the originals before anything is told of the mail, so that an address which is given to another project takes no
// mail with it, and that a mail which is read again, under whatever UID, becomes no record anywhere else.

// patience tries something: for as long as it takes, or once.
type patience func(ctx context.Context, what string, try func() error) error

// once is the patience of commands.
func once(_ context.Context, _ string, try func() error) error { return try() }

// mostNoted is how many mails are looked up at a time: each may ask a server.
const mostNoted = 16

// belong replaces what the addresses say of mails now by where they belong.
func (in *Intake) belong(ctx context.Context, tenant string, mails []mailbox.Mail, chosen []decision, wait patience) error {
	looking, ctx := errgroup.WithContext(ctx)
	looking.SetLimit(mostNoted)
	for i, m := range mails {
		if chosen[i].mark == mailbox.Unmarked { // it names nobody
			continue
		}
		looking.Go(func() error {
			return wait(ctx, "originals", func() error {
				first, err := in.firstProjects(ctx, tenant, m.Header, chosen[i].projects)
				if err == nil && len(first) > 0 {
					chosen[i] = decision{mark: mailbox.Done, projects: first}
				}
				return err
			})
		})
	}
	return looking.Wait()
}

// firstProjects are those that a mail belongs to; those of now, if any, where nothing is noted yet. It is known by its header, which is
// the same under whatever UID, and of which each delivery has its own.
func (in *Intake) firstProjects(ctx context.Context, tenant string, header []byte, now []string) (first []string, err error) {
	of := thing("projects of a mail", string(header))
	var noted []byte
	if len(now) == 0 {
		noted, err = in.options.Originals.Noted(ctx, tenant, of)
	} else if noted, err = json.Marshal(now); err == nil {
		noted, err = in.options.Originals.First(ctx, tenant, of, noted)
	}
	if err != nil || noted == nil {
		return nil, err
	}
	if err := json.Unmarshal(noted, &first); err != nil {
		in.options.Log.Error("where a mail belongs can't be read; its addresses count as they are", "error", err)
		return now, nil
	}
	return first, nil
}
