// Command tallyhouse is the whole system in one binary: the worker, the API, and everything that an operator does with them.
package main

import (
	"os"
)

func main() {
	os.Exit(run(&shell{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.LookupEnv}, os.Args[1:]))
}
