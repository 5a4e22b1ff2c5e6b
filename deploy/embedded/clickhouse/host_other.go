//go:build !linux && !darwin

package clickhouse

import (
	"os"
	"syscall"
)

// Where nothing can be run, Start has ended with errUnsupportedPlatform before
// any of these is reached.

const loadsLibraries = false

func childAttributes() *syscall.SysProcAttr      { return nil }
func grandchildAttributes() *syscall.SysProcAttr { return nil }
func killGroup(int)                              {}
func killSelf()                                  {}

func replaceStdin() (moved, keep *os.File, err error) { return nil, nil, errUnsupportedPlatform }
func runLibrary(string, []string) error               { return errUnsupportedPlatform }
