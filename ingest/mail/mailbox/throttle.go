package mailbox

import (
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/emersion/go-imap/v2"
	"golang.org/x/oauth2"
)

const (
	// usualThrottle is how long a server is left alone that asks for it and doesn't say how long.
	usualThrottle = 2 * time.Minute
	maxThrottle   = time.Hour
)

// throttleCodes are the response codes of servers that want to be left alone (RFC 5530, RFC 9051, Gmail).
var throttleCodes = []imap.ResponseCode{"THROTTLED", "LIMIT", "INUSE", "UNAVAILABLE", "OVERQUOTA"}

// suggested is how Exchange says how long.
var suggested = regexp.MustCompile(`(?i)backoff time:?\s*(\d+)\s*(milliseconds|ms|seconds)`)

// Throttled gives how long a server, the mailbox's or the one that hands out its tokens, wants to be left alone, when
// that is what an error says.
func Throttled(err error) (time.Duration, bool) {
	if refused := (*oauth2.RetrieveError)(nil); errors.As(err, &refused) {
		return retryAfter(refused.Response, time.Now())
	}
	answer := (*imap.Error)(nil)
	if !errors.As(err, &answer) {
		return 0, false
	}
	if said := suggested.FindStringSubmatch(answer.Text); said != nil {
		n, err := strconv.ParseInt(said[1], 10, 32)
		unit := time.Millisecond
		if strings.EqualFold(said[2], "seconds") {
			unit = time.Second
		}
		if err == nil {
			return min(time.Duration(n)*unit, maxThrottle), true
		}
	}
	text := strings.ToLower(answer.Text)
	if slices.Contains(throttleCodes, answer.Code) || strings.Contains(text, "throttled") || strings.Contains(text,
		"too many simultaneous connections") {
		return usualThrottle, true
	}
	return 0, false
}

// Refused reports whether a server refused one command alone: the connection is of use, and it doesn't want to be left alone. What it
// says of its quota is about what was to be stored.
func Refused(err error) bool {
	answer := (*imap.Error)(nil)
	if !errors.As(err, &answer) || answer.Type != imap.StatusResponseTypeNo {
		return false
	}
	_, throttled := Throttled(err)
	return !throttled || answer.Code == imap.ResponseCodeOverQuota
}

// retryAfter is what an HTTP server says in an answer (RFC 9110, 10.2.3).
func retryAfter(r *http.Response, now time.Time) (time.Duration, bool) {
	if r == nil || r.StatusCode != http.StatusTooManyRequests && r.StatusCode != http.StatusServiceUnavailable {
		return 0, false
	}
	said := r.Header.Get("Retry-After")
	wait := usualThrottle
	if seconds, err := strconv.ParseInt(said, 10, 32); err == nil && seconds >= 0 {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(said); err == nil {
		wait = max(0, at.Sub(now))
	}
	return min(wait, maxThrottle), true
}
