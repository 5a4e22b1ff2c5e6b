package mailbox

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/emersion/go-imap/v2"
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

// Throttled gives how long a server wants to be left alone, when that is what an error says.
func Throttled(err error) (time.Duration, bool) {
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
