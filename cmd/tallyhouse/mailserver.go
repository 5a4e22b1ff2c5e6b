package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	embeddedmail "tallyhouse/deploy/embedded/mail"
)

func mailServerCommand(s *shell) *cobra.Command {
	var o embeddedmail.Options
	cmd := &cobra.Command{
		Use:     "mailserver",
		GroupID: groupRun,
		Short:   "Run the mail server of dev alone, for trying the intake of mail",
		Long: "Takes mail to any address by SMTP and shows it in one mailbox by IMAP, user demo, password demo, without TLS. For\n" +
			"development: whoever reaches it may send and read.",
		Example: "  tallyhouse mailserver --data-dir ./mail",
		Args:    none,
	}
	cmd.Flags().StringVar(&o.DataDir, "data-dir", "./mail", "directory that the mails are kept in")
	listenFlag(cmd.Flags(), &o.IMAP, "imap-addr", "127.0.0.1:1143", "where IMAP listens, host:port")
	listenFlag(cmd.Flags(), &o.SMTP, "smtp-addr", "127.0.0.1:1025", "where mail is taken in, host:port")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o.Log = s.log
		server, err := embeddedmail.Start(o)
		if err != nil {
			return err
		}
		fmt.Fprintf(s.out, "ready imap=%s smtp=%s\n", server.URL(), server.SMTP())
		<-cmd.Context().Done()
		ctx, stop := context.WithTimeout(context.Background(), stopTimeout)
		defer stop()
		return server.Stop(ctx)
	}
	return cmd
}
