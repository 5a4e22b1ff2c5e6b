package reader

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
)

// PanicError is a panic of a task that ran beside others.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.Value, e.Stack) }

// Together runs the tasks at the same time and waits for all of them. A panic of one becomes an error, as it would in
// the caller's own goroutine, where the handler of the request takes care of it: here it would end the process.
func Together(tasks ...func() error) error {
	failed := make([]error, len(tasks))
	var wait sync.WaitGroup
	for i, task := range tasks {
		wait.Go(func() {
			defer func() {
				if value := recover(); value != nil {
					failed[i] = &PanicError{value, debug.Stack()}
				}
			}()
			failed[i] = task()
		})
	}
	wait.Wait()
	return errors.Join(failed...)
}
