//go:build (linux || darwin) && !static

package clickhouse

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// loadsLibraries: whoever can load a library is linked with the system's loader and C library. The tag static builds a
// program that needs neither, for images that have none.
const loadsLibraries = true

// runLibrary runs clickhouse-local's main function in the chDB library. It
// returns when that does: with a listening query, when the query is killed.
func runLibrary(path string, args []string) error {
	library, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return fmt.Errorf("load the engine library: %w", err)
	}
	// struct chdb_result *chdb_query_cmdline(int argc, char **argv)
	// const char *chdb_result_error(struct chdb_result *)
	var run func(argc int32, argv unsafe.Pointer) unsafe.Pointer
	var resultError func(result unsafe.Pointer) string
	for name, function := range map[string]any{"chdb_query_cmdline": &run, "chdb_result_error": &resultError} {
		symbol, err := purego.Dlsym(library, name)
		if err != nil {
			return fmt.Errorf("find %s in the engine library %s: %w", name, path, err)
		}
		purego.RegisterFunc(function, symbol)
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	argv := make([]*byte, len(args)+1) // ends with a null pointer, as in C
	for i, arg := range args {
		bytes := append([]byte(arg), 0)
		argv[i] = &bytes[0]
		pins.Pin(argv[i])
	}
	pins.Pin(&argv[0])
	result := run(int32(len(args)), unsafe.Pointer(&argv[0]))
	if result == nil {
		return errors.New("the engine library returned no result")
	}
	if message := resultError(result); message != "" {
		return fmt.Errorf("the engine ended: %s", message)
	}
	return nil
}
