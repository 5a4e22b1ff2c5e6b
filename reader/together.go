package reader

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
)

// together runs the tasks at the same time and waits for all of them. A panic of one becomes an error, as it would in
// the caller's own goroutine, where the handler of the request takes care of it: here it would end the process.
func together(tasks ...func() error) error {
	failed := make([]error, len(tasks))
	var wait sync.WaitGroup
	for i, task := range tasks {
		wait.Go(func() {
			defer func() {
				if value := recover(); value != nil {
					failed[i] = fmt.Errorf("panic: %v\n%s", value, debug.Stack())
				}
			}()
			failed[i] = task()
		})
	}
	wait.Wait()
	return errors.Join(failed...)
}
