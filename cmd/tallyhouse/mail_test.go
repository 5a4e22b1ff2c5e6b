package main

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"tallyhouse/ingest/mail"
	"tallyhouse/ingest/mail/mailbox"
)

func mailFlagsOf(t *testing.T, args ...string) *mailFlags {
	t.Helper()
	var f mailFlags
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	f.add(flags, nil, "")
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return &f
}

func TestMailboxesHaveTheirTenantAndMark(t *testing.T) {
	f := mailFlagsOf(t, "--imap", "imaps://u:hush@a.example/In?tenant=one,imap://u:hush@b.example", "--mail-tenant",
		"two", "--mail-done", "folder", "--own-company", "Acme")
	o, err := f.options("worker")
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Mailboxes) != 2 || o.Mailboxes[0].Tenant != "one" || o.Mailboxes[1].Tenant != "two" ||
		o.Mailboxes[1].DoneFolder != "Tallyhouse" || o.MaxAmount != mail.DefaultMaxAmount || o.Reader.Own.Names[0] != "Acme" {
		t.Errorf("got %+v", o)
	}
	if n := o.Mailboxes[0].Slot; n != slot("worker") || n < 0 || n >= mailbox.Slots {
		t.Errorf("the slot is %d", n)
	}
	if none, err := mailFlagsOf(t).options(""); err != nil || len(none.Mailboxes) != 0 {
		t.Errorf("without a mailbox: %+v, %v", none, err)
	}
}

func TestWrongMailFlagsAreToldAllAtOnceWithoutPasswords(t *testing.T) {
	_, err := mailFlagsOf(t, "--imap", "imaps://u:hush@a.example,pop://u:hush@b.example,://u:hush@c", "--mail-done",
		"delete", "--mail-max-bytes", "0", "--mail-max-amount", "0").options("")
	if err == nil {
		t.Fatal("they were taken")
	}
	for _, want := range []string{"needs a tenant", "number 2", "number 3", "--mail-done must be keyword or folder",
		"--mail-max-bytes", "--mail-max-amount"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in %v", want, err)
		}
	}
	if strings.Contains(err.Error(), "hush") {
		t.Errorf("a password is shown: %v", err)
	}
}
