package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// Exit codes, the same for all commands.
const (
	exitDone         = 0
	exitFailed       = 1
	exitUsage        = 2
	exitInconclusive = 3 // what was asked for is neither done nor failed: load --wait without progress, verify without comparison
	exitCodesLong    = "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 inconclusive (load --wait without progress, " +
		"verify without comparison)."
	environmentDoc = "Every flag can also be given as an environment variable, shown behind it in [brackets], or as the content of a\n" +
		"file, which the variable with _FILE behind it names; the flag wins."
)

// shell is what a command gets from the process: streams, environment and log. log is set before a command runs.
type shell struct {
	in       io.Reader
	out, err io.Writer
	env      environment
	log      *slog.Logger
	program  string // as it was started, for lines that a person may paste; "" is the command's own name
	faults   error  // of variables and of the log's flags, told together with those of the command's own
	check    bool   // only check the configuration
}

// usageError is a fault of the command line: exit code 2.
type usageError struct{ error }

// Unwrap gives the fault itself.
func (e usageError) Unwrap() error { return e.error }

// inconclusiveError is the outcome behind exit code 3.
type inconclusiveError struct{ error }

// Unwrap gives the outcome itself.
func (e inconclusiveError) Unwrap() error { return e.error }

// run runs one command line and returns the process's exit code.
func run(s *shell, args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal asks the command to end, the second ends the process.
	context.AfterFunc(ctx, stop)

	root, started := rootCommand(s)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	var usage usageError
	var inconclusive inconclusiveError
	switch {
	case errors.As(err, &inconclusive):
		s.complain(err)
		return exitInconclusive
	case !*started || errors.As(err, &usage):
		s.complain(err)
		fmt.Fprintf(s.err, "Run `%s --help` for usage.\n", cmd.CommandPath())
		return exitUsage
	}
	s.complain(err)
	if what := advice(err); what != "" {
		fmt.Fprintln(s.err, "tallyhouse: what to do: "+what)
	}
	return exitFailed
}

// quietOnTerminal marks a command that talks to a person on a terminal, and logs warnings alone there.
const quietOnTerminal = "tallyhouse_quiet_on_terminal"

func (s *shell) complain(err error) {
	for line := range strings.Lines(err.Error() + "\n") {
		if line = strings.TrimRight(line, "\n"); line != "" {
			fmt.Fprintln(s.err, "tallyhouse: "+line)
		}
	}
}

const levelFlag = "log-level"

// The groups of commands in the help.
const (
	groupRun  = "run"
	groupData = "data"
	groupCare = "care"
)

// rootCommand assembles all commands. started becomes true when one of them begins its work: an error before that is a
// fault of usage.
func rootCommand(s *shell) (root *cobra.Command, started *bool) {
	started = new(bool)
	var level slog.Level
	var format string
	root = &cobra.Command{
		Version: thisBuild().Version,
		Use:     "tallyhouse",
		Short:   "The money of real-estate development projects: emailed invoices and ledger changes in, exact figures out",
		Long: "Tallyhouse takes emailed invoices and ledger changes, keeps them in exact tables and sums in ClickHouse,\n" +
			"and answers a read API from them. `tallyhouse dev` runs all of it on one machine.\n\n" +
			environmentDoc + "\n" + exitCodesLong,
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			fault := fromEnvironment(cmd.Flags(), s.env) // sets level and format, too
			if cmd.Annotations[quietOnTerminal] != "" && !cmd.Flags().Changed(levelFlag) && isTerminal(s.out) && isTerminal(s.err) {
				level = slog.LevelWarn
			}
			var err error
			s.log, err = newLog(s.err, level, format)
			s.faults = errors.Join(fault, err)
			s.tellUnknown(s.env.unknown(cmd.Root()))
			return nil
		},
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return plainFault(err) })
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.PersistentFlags().TextVar(&level, levelFlag, slog.LevelInfo, "least level that is logged: DEBUG, INFO, WARN or ERROR")
	root.PersistentFlags().StringVar(&format, "log-format", "auto", "text or json; auto is text on a terminal and json elsewhere")
	root.PersistentFlags().BoolVar(&s.check, "check-config", false, "check flags and variables, and end")
	root.AddGroup(
		&cobra.Group{ID: groupRun, Title: "Run:"},
		&cobra.Group{ID: groupData, Title: "Bring data in:"},
		&cobra.Group{ID: groupCare, Title: "Look after it:"},
	)
	root.AddCommand(subcommands(s)...)
	root.CompletionOptions.HiddenDefaultCmd = true
	s.prepare(root, started)
	return root, started
}

// subcommands are all commands, in the order in which the help of their group has them.
func subcommands(s *shell) []*cobra.Command {
	return []*cobra.Command{
		devCommand(s),
		ingestCommand(s),
		apiCommand(s),
		deskCommand(s),
		topicsCommand(s),
		verifyCommand(s),
		rebuildCommand(s),
		adoptCommand(s),
		releaseCommand(s),
		migrateCommand(s),
		loadCommand(s),
		sampleCommand(s),
		schemasCommand(s),
		deadLettersCommand(s),
		readCommand(s),
		keysCommand(s),
		feedbackCommand(s),
		exportCommand(s),
		mailCommand(s),
		mailServerCommand(s),
		probeCommand(s),
		versionCommand(s),
	}
}

// prepare adds to every command what all have in common.
func (s *shell) prepare(cmd *cobra.Command, started *bool) {
	cmd.SetUsageTemplate(strings.ReplaceAll(cmd.UsageTemplate(), "Flags.FlagUsages ", "Flags.FlagUsagesWrapped 120 "))
	nameVariables(cmd.LocalNonPersistentFlags())
	nameVariables(cmd.PersistentFlags())
	if cmd.HasSubCommands() && cmd.HasParent() && cmd.RunE == nil {
		cmd.Args = cobra.NoArgs // an unknown subcommand is a fault
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	if work := cmd.RunE; work != nil {
		check := cmd.PreRunE
		cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
			faults := errors.Join(s.faults, connectionFaults(cmd.Flags()), listenFaults(cmd.Flags()))
			if check == nil {
				return faults
			}
			return errors.Join(faults, check(cmd, args))
		}
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			*started = true
			if s.check {
				fmt.Fprintln(s.err, "flags and variables are good")
				return nil
			}
			return work(cmd, args)
		}
	}
	for _, sub := range cmd.Commands() {
		s.prepare(sub, started)
	}
}

// tellUnknown tells of variables that are of no command: a check refuses them, else the log warns, as another version of this program
// may know them.
func (s *shell) tellUnknown(variables []unknownVariable) {
	for _, v := range variables {
		switch {
		case s.check:
			s.faults = errors.Join(s.faults, v.fault())
		case s.log != nil:
			s.log.Warn("an environment variable is of no command: it does nothing", "variable", v.name, "nearest", v.nearest)
		}
	}
}

func newLog(w io.Writer, level slog.Level, format string) (*slog.Logger, error) {
	options := &slog.HandlerOptions{Level: level}
	switch {
	case format == "text" || format == "auto" && isTerminal(w):
		return slog.New(advising{slog.NewTextHandler(w, options)}), nil
	case format == "json" || format == "auto":
		return slog.New(advising{slog.NewJSONHandler(w, options)}), nil
	}
	return nil, fmt.Errorf("--log-format must be text, json or auto, not %q", format)
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
