// Command tallyhouse is the whole system in one binary: the worker, the API, and everything that an operator does with
// them.
package main

import (
	"fmt"
	"os"

	"tallyhouse/deploy/embedded/clickhouse"
)

// engineCommand is how the binary calls itself to run the embedded database: no command for users. The engine handles
// signals and arguments itself, so it goes past everything that the other commands share.
const engineCommand = "engine"

func main() {
	args := os.Args[1:]
	if len(args) > 0 && args[0] == engineCommand {
		if err := clickhouse.RunChild(args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, "tallyhouse:", err)
			os.Exit(exitFailed)
		}
		return
	}
	os.Exit(run(&shell{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: environmentOf(os.Environ()), program: os.Args[0]}, args))
}
