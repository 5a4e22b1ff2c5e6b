// Package ratelimit counts events of a key in a sliding window, exactly: of however many that are asked for, no window
// of time holds more than the policy allows (docs/api.md#rate-limit). Each store keeps the instants of what it
// accepted; what it refuses is not kept, so asking in vain never makes anybody wait longer.
package ratelimit

import "time"

// Policy is how many events of a key any window of time may hold.
type Policy struct {
	Events int
	Window time.Duration
}

// Decision says whether an event was accepted, and what is left.
type Decision struct {
	Accepted  bool
	Remaining int           // more events that would be accepted now
	Next      time.Duration // until the oldest accepted event leaves the window, and one more would be accepted
}
