package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"
)

func probeCommand(s *shell) *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:     "probe URL",
		GroupID: groupCare,
		Short:   "Ask a process whether it is well, as health checks of containers do",
		Long: "Ends with 0 when the URL answers 200, else with 1 and what it answered. tcp://HOST:PORT only connects. For images\n" +
			"that have no other program.",
		Example: "  tallyhouse probe http://127.0.0.1:9090/healthz",
		Args:    one("URL"),
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 3*time.Second, "how long an answer may take")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if timeout <= 0 {
			return fmt.Errorf("--timeout must be above zero, not %s", timeout)
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		target, err := url.Parse(args[0])
		if err != nil || target.Host == "" || target.Scheme != "http" && target.Scheme != "https" && target.Scheme != "tcp" {
			return usageError{fmt.Errorf("URL must be like http://127.0.0.1:9090/healthz or tcp://127.0.0.1:1143, not %q", args[0])}
		}
		if target.Scheme == "tcp" {
			dialer := net.Dialer{Timeout: timeout}
			c, err := dialer.DialContext(cmd.Context(), "tcp", target.Host)
			if err != nil {
				return unwell(err)
			}
			return c.Close()
		}
		request, err := http.NewRequestWithContext(cmd.Context(), http.MethodGet, args[0], nil)
		if err != nil {
			return usageError{err}
		}
		client := http.Client{Timeout: timeout}
		answer, err := client.Do(request)
		if err != nil {
			return unwell(err)
		}
		defer answer.Body.Close()
		const most = 4 << 10
		body, _ := io.ReadAll(io.LimitReader(answer.Body, most)) // it only explains the status
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s: %s", args[0], answer.Status, body)
		}
		return nil
	}
	return cmd
}

// unwell is the failure of a probe whose process didn't answer.
func unwell(err error) error {
	return &serverError{flag: "URL", cause: fmt.Errorf("probe: %w", err)}
}
