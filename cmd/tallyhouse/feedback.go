package main

import (
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
	const columns = "%-20s  %-10s  %-40s  %s"
	all := listing[feedback.Message]{
		topic: events.ReceivedFeedback, what: "feedback",
		header: fmt.Sprintf(columns, "AT", "CATEGORY", "FROM", "MESSAGE"),
		row: func(m feedback.Message) string {
			return fmt.Sprintf(columns, m.ReceivedAt.Format(time.RFC3339), m.Category, m.Tenant+"/"+m.Principal,
				untrusted.Line(m.Message))
		},
		object: feedbackLine,
	}
	cmd := &cobra.Command{Use: "list", Short: "List all feedback, each caller's in the order in which it came", Args: none}
	all.flag(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		servers, err := to.open()
		if err != nil {
			return err
		}
		defer servers.kafka.Close()
		received := func(each func(*kgo.Record) error) error {
			return kafka.Read(cmd.Context(), servers.kafka, string(events.ReceivedFeedback), each)
		}
		return all.print(s, func(each func(feedback.Message) error) (int, error) { return feedback.List(received, each) })
	}
	return cmd
}

// feedbackLine is a message as --json prints it.
func feedbackLine(m feedback.Message) any {
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
	return line
}
