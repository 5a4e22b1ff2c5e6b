package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/api/feedback"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/untrusted"
	"tallyhouse/schemas/events"
)

func feedbackCommand(s *shell) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "feedback",
		GroupID: groupCare,
		Short:   "List what clients say about the API",
		Long:    "What clients send to POST /v0/feedback is kept in the topic service.feedback.",
		Example: "  tallyhouse feedback list\n  tallyhouse feedback list --json",
	}
	to := connectionFlags(cmd.PersistentFlags())
	cmd.AddCommand(listFeedback(s, to))
	return cmd
}

func listFeedback(s *shell, to *connection) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "list", Short: "List all feedback, each caller's in the order in which it came", Args: cobra.NoArgs}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object per line")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		servers, err := to.open()
		if err != nil {
			return err
		}
		defer servers.kafka.Close()
		read := func(each func(*kgo.Record) error) error {
			return kafka.Read(cmd.Context(), servers.kafka, string(events.ReceivedFeedback), each)
		}
		count := 0
		foreign, err := feedback.List(read, func(m feedback.Message) error {
			if asJSON {
				return printFeedbackLine(s, m)
			}
			const columns = "%-20s  %-10s  %-40s  %s\n"
			if count++; count == 1 {
				fmt.Fprintf(s.out, columns, "AT", "CATEGORY", "FROM", "MESSAGE")
			}
			_, err := fmt.Fprintf(s.out, columns, m.ReceivedAt.Format(time.RFC3339), m.Category, m.Tenant+"/"+m.Principal,
				untrusted.Line(m.Message))
			return err
		})
		if err != nil {
			return fmt.Errorf("list feedback: %w", err)
		}
		if foreign > 0 {
			s.log.Warn("messages in the topic that are no feedback", "topic", events.ReceivedFeedback, "messages", foreign)
		}
		if count == 0 && !asJSON {
			fmt.Fprintln(s.err, "no feedback")
		}
		return nil
	}
	return cmd
}

func printFeedbackLine(s *shell, m feedback.Message) error {
	type agent struct {
		Name  *string `json:"name"`
		Model *string `json:"model"`
	}
	line := struct {
		ID         string    `json:"id"`
		ReceivedAt time.Time `json:"receivedAt"`
		Tenant     string    `json:"tenant"`
		Principal  string    `json:"principal"`
		Category   string    `json:"category"`
		Message    string    `json:"message"`
		Endpoint   *string   `json:"endpoint"`
		Agent      *agent    `json:"agent"`
		RequestID  *string   `json:"requestId"`
	}{m.ID, m.ReceivedAt, m.Tenant, m.Principal, m.Category, m.Message, pointer(m.Endpoint), nil, pointer(m.RequestID)}
	if m.Agent.Ok {
		line.Agent = &agent{pointer(m.Agent.V.Name), pointer(m.Agent.V.Model)}
	}
	lines := json.NewEncoder(s.out)
	lines.SetEscapeHTML(false)
	return lines.Encode(line)
}
