package kafka

// Error is a failure to reach Kafka, or its refusal: whoever tells it knows which server it is about.
type Error struct{ Cause error }

func (e *Error) Error() string { return e.Cause.Error() }

// Unwrap gives the failure itself.
func (e *Error) Unwrap() error { return e.Cause }

// Failed marks a failure as Kafka's; nil stays nil.
func Failed(err error) error {
	if err == nil {
		return nil
	}
	return &Error{err}
}
