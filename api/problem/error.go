package problem

import (
	"strings"
	"time"
	"unicode/utf8"

	"tallyhouse/api/resource"
	"tallyhouse/schemas/jsontext"
)

// Error is a problem as it happened.
type Error struct {
	Kind       *Kind
	Detail     string        // what was wrong, in one sentence; may be empty
	Parameters []Parameter   // of InvalidQuery and InvalidBody
	Allow      []string      // of MethodNotAllowed
	RetryAfter time.Duration // of TooManyRequests
}

// Parameter is an offending query parameter or member of a body.
type Parameter struct {
	Name       string
	Reason     string
	Allowed    []string // the values that it may have, when they are few
	Suggestion string   // what may have been meant
}

func (e *Error) Error() string {
	text := e.Kind.Suffix
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	for _, p := range e.Parameters {
		text += "; " + p.Name + " " + p.Reason
	}
	return text
}

// Limits of a document, which stays below 4 kB.
const (
	maxParameters = 3000 // bytes of the list
	maxName       = 60   // characters of an echoed name
	maxText       = 300  // characters of a reason or detail
)

// Append writes the problem document behind b.
func (e *Error) Append(b []byte, requestID string) []byte {
	b = append(b, `{"type":`...)
	b = jsontext.AppendString(b, e.Kind.Type())
	b = append(b, `,"title":`...)
	b = jsontext.AppendString(b, e.Kind.Title)
	b = append(b, `,"status":`...)
	b = resource.AppendInt(b, int64(e.Kind.Status))
	if e.Detail != "" {
		b = append(b, `,"detail":`...)
		b = jsontext.AppendString(b, cut(e.Detail, maxText))
	}
	b = append(b, `,"requestId":`...)
	b = jsontext.AppendString(b, requestID)
	if len(e.Parameters) > 0 {
		b = append(b, `,"errors":[`...)
		b = appendParameters(b, e.Parameters)
		b = append(b, ']')
	}
	return append(b, '}')
}

// appendParameters lists as many parameters as fit, and says how many do not.
func appendParameters(b []byte, all []Parameter) []byte {
	start := len(b)
	for i, p := range all {
		before := len(b)
		if i > 0 {
			b = append(b, ',')
		}
		b = p.append(b)
		if len(b)-start > maxParameters {
			b = b[:before]
			if i > 0 {
				b = append(b, ',')
			}
			rest := string(resource.AppendInt(nil, int64(len(all)-i)))
			return Parameter{Name: "…", Reason: "and " + rest + " more"}.append(b)
		}
	}
	return b
}

func (p Parameter) append(b []byte) []byte {
	b = append(b, `{"name":`...)
	b = jsontext.AppendString(b, cut(p.Name, maxName))
	b = append(b, `,"reason":`...)
	b = jsontext.AppendString(b, cut(p.Reason, maxText))
	if len(p.Allowed) > 0 {
		b = append(b, `,"allowed":[`...)
		for i, value := range p.Allowed {
			if i > 0 {
				b = append(b, ',')
			}
			b = jsontext.AppendString(b, value)
		}
		b = append(b, ']')
	}
	if p.Suggestion != "" {
		b = append(b, `,"suggestion":`...)
		b = jsontext.AppendString(b, p.Suggestion)
	}
	return append(b, '}')
}

// cut shortens what a stranger may have sent.
func cut(s string, characters int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if utf8.RuneCountInString(s) <= characters {
		return s
	}
	return string([]rune(s)[:characters]) + "…"
}
