//go:build static && (linux || darwin)

package clickhouse

const loadsLibraries = false

// runLibrary is never reached: findLibrary has ended with errNoLoader.
func runLibrary(string, []string) error { return errNoLoader }
