package mailbox

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
)

// Wait returns when there may be new mail, at the latest after most. Where the server can't tell by itself it is asked.
// Commands from elsewhere may be given meanwhile.
func (s *Session) Wait(ctx context.Context, most time.Duration) error {
	if !s.idle {
		return s.poll(ctx, min(most, s.options.Poll))
	}
	for until := time.Now().Add(most); ; {
		news, err := s.idleOnce(ctx, time.Until(until))
		if err != nil || news {
			return err
		}
		runtime.Gosched() // a command waits for its turn
	}
}

// Nudge ends a Wait, or the next one, as new mail does.
func (s *Session) Nudge() {
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// idleOnce idles until there is news, the time is over (which is news, too) or a command wants the connection.
func (s *Session) idleOnce(ctx context.Context, most time.Duration) (news bool, err error) {
	s.commands.Lock()
	defer s.commands.Unlock()
	select {
	case <-s.interrupt: // by commands that were
	default:
	}
	if s.waiting.Load() > 0 {
		return false, nil
	}
	var command *imapclient.IdleCommand
	if err := s.run(ctx, "idle", s.options.Timeout, func() (err error) {
		command, err = s.client.Idle()
		return err
	}); err != nil {
		return false, err
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-s.news:
		news = true
	case <-timer.C:
		news = true
	case <-s.interrupt:
	case <-s.client.Closed():
		return false, fmt.Errorf("idle: %w", s.ended())
	case <-ctx.Done():
		return false, ctx.Err()
	}
	return news, s.run(ctx, "end idle", s.options.Timeout, func() error {
		if err := command.Close(); err != nil {
			return err
		}
		return command.Wait()
	})
}

// ended is why the connection did.
func (s *Session) ended() error {
	if err := s.client.Close(); err != nil {
		return fmt.Errorf("the connection ended: %w", err)
	}
	return errors.New("the server ended the connection")
}

func (s *Session) poll(ctx context.Context, after time.Duration) error {
	select {
	case <-s.news:
	case <-time.After(after):
	case <-s.client.Closed():
		return s.ended()
	case <-ctx.Done():
		return ctx.Err()
	}
	return s.do(ctx, "noop", s.options.Timeout, func() error { return s.client.Noop().Wait() })
}

// On gives the mails that arrived on the day of an instant, the day before or after: servers don't agree on the time
// zone of a day.
func (s *Session) On(ctx context.Context, arrived time.Time) ([]UID, error) {
	const day = 24 * time.Hour
	var found []UID
	err := s.do(ctx, "search", s.options.Timeout, func() error {
		data, err := s.client.UIDSearch(&imap.SearchCriteria{Since: arrived.Add(-day), Before: arrived.Add(2 * day)}, nil).Wait()
		if err != nil {
			return err
		}
		found = data.AllUIDs()
		return nil
	})
	slices.Sort(found)
	return found, err
}
