package session

import (
	"context"
	"time"
)

// Leeway is how far clocks may be apart.
const Leeway = leeway

// ParseKeys reads a key set and returns how many keys are usable.
func ParseKeys(text []byte) (int, error) {
	keys, err := parseKeys(text)
	return len(keys), err
}

// Pace sets how often keys are fetched, how soon again after a failure, and how long one answer may take.
func (v *Verifier) Pace(refresh, retry, timeout time.Duration) {
	v.keys.refresh, v.keys.retry, v.keys.client.Timeout = refresh, retry, timeout
}

// Know fetches the keys once.
func (v *Verifier) Know() error {
	keys, err := v.keys.fetch(context.Background())
	v.keys.begin()
	v.keys.end(keys, err)
	return err
}
