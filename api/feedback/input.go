package feedback

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"tallyhouse/api/problem"
	"tallyhouse/api/resource"
	"tallyhouse/schemas/events"
	"tallyhouse/schemas/jsonschema"
	"tallyhouse/schemas/nearest"
)

// MaxBody bounds the body of a request, in bytes.
const MaxBody = 64 << 10

// Lengths of texts in characters.
const (
	maxMessage = 4000
	maxShort   = 200 // of every other text
)

var categories = []string{"bug", "missing", "confusing", "idea", "praise"}

// Input is feedback as a client sends it.
type Input struct {
	Category  string
	Message   string
	Endpoint  events.Opt[string]
	Agent     events.Opt[events.Agent]
	RequestID events.Opt[string]
}

// Schema describes a body.
func Schema() *resource.Schema {
	short := func(description string) *resource.Schema {
		return &resource.Schema{Type: "string", MaxLength: jsonschema.Number(maxShort), Description: description}
	}
	closed := false
	agent := &resource.Schema{Type: "object", AdditionalProperties: &closed, Description: "The program that sends it.",
		Properties: &resource.Properties{Names: []string{"name", "model"},
			Schemas: []*resource.Schema{short("Its name."), short("The model that it runs on.")}}}
	return resource.Reference(resource.Component{Name: "FeedbackInput", Schema: &resource.Schema{
		Type: "object", AdditionalProperties: &closed, Required: []string{"category", "message"},
		Description: "Feedback on the API. Keys and tokens must not be in it.",
		Properties: &resource.Properties{Names: []string{"category", "message", "endpoint", "agent", "requestId"},
			Schemas: []*resource.Schema{
				{Type: "string", Enum: categories},
				{Type: "string", MinLength: jsonschema.Number(1), MaxLength: jsonschema.Number(maxMessage)},
				short("The call that it is about."), agent, short("The x-request-id of a call that went wrong."),
			}}}})
}

// ReceiptSchema describes the answer.
func ReceiptSchema() *resource.Schema {
	closed := false
	names := []string{"id", "receivedAt"}
	return resource.Reference(resource.Component{Name: "FeedbackReceipt", Schema: &resource.Schema{
		Type: "object", AdditionalProperties: &closed, Required: names, Description: "Feedback that was received, and is kept.",
		Properties: &resource.Properties{Names: names, Schemas: []*resource.Schema{
			{Type: "string", MinLength: jsonschema.Number(1)}, {Type: "string", Format: "date-time"},
		}}}})
}

// ParseInput reads a body strictly: every member that is missing, unknown, repeated or malformed is in the list. An error
// says why it is no JSON object at all.
func ParseInput(body []byte) (in Input, wrong []problem.Parameter, err error) {
	all, wrong, err := members(body, "", "category", "message", "endpoint", "agent", "requestId")
	if err != nil {
		return Input{}, nil, err
	}
	refuse := func(p problem.Parameter) { wrong = append(wrong, p) }
	for _, name := range []string{"category", "message"} {
		if _, given := all[name]; !given {
			p := problem.Parameter{Name: name, Reason: "is missing"}
			if name == "category" {
				p.Allowed = categories
			}
			refuse(p)
		}
	}
	text := func(of map[string]json.RawMessage, path, name string, least, most int) (value events.Opt[string]) {
		raw, given := of[name]
		if !given {
			return value
		}
		s, reason := readText(raw, least, most)
		if reason != "" {
			refuse(problem.Parameter{Name: path + name, Reason: reason})
			return value
		}
		return events.Some(s)
	}
	if raw, given := all["category"]; given {
		s, reason := readText(raw, 0, maxMessage)
		if in.Category = s; reason == "" && !slices.Contains(categories, s) {
			reason = "is not one of the allowed values"
		}
		if reason != "" {
			refuse(problem.Parameter{Name: "category", Reason: reason, Allowed: categories, Suggestion: nearest.Of(s, categories)})
		}
	}
	in.Message = text(all, "", "message", 1, maxMessage).V
	in.Endpoint = text(all, "", "endpoint", 0, maxShort)
	in.RequestID = text(all, "", "requestId", 0, maxShort)
	if raw, given := all["agent"]; given {
		of, more, err := members(raw, "agent.", "name", "model")
		if err != nil {
			refuse(problem.Parameter{Name: "agent", Reason: "must be an object"})
		}
		wrong = append(wrong, more...)
		in.Agent = events.Some(events.Agent{Name: text(of, "agent.", "name", 0, maxShort), Model: text(of, "agent.", "model", 0, maxShort)})
	}
	return in, wrong, nil
}

// members reads an object. What it should not have is in the list.
func members(text []byte, path string, known ...string) (map[string]json.RawMessage, []problem.Parameter, error) {
	if !utf8.Valid(text) {
		return nil, nil, errors.New("it is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return nil, nil, errors.New("it is not a JSON object")
	}
	all := make(map[string]json.RawMessage)
	var wrong []problem.Parameter
	repeated := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		name, _ := token.(string)
		var value json.RawMessage
		if err == nil {
			err = d.Decode(&value)
		}
		if err != nil {
			return nil, nil, errors.New("it is not a JSON object")
		}
		_, again := all[name]
		all[name] = value
		switch {
		case again && !repeated[name]:
			repeated[name] = true
			wrong = append(wrong, problem.Parameter{Name: shown(path + name), Reason: "is given more than once"})
		case !again && !slices.Contains(known, name):
			wrong = append(wrong, problem.Parameter{Name: shown(path + name), Reason: "is not a member of this body",
				Suggestion: nearest.Of(name, known)})
		}
	}
	if _, err := d.Token(); err != nil { // the end of the object
		return nil, nil, errors.New("it is not a JSON object")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, nil, errors.New("something follows the JSON object")
	}
	return all, wrong, nil
}

// readText reads a string of least to most characters that holds no secret.
func readText(raw json.RawMessage, least, most int) (text, reason string) {
	if json.Unmarshal(raw, &text) != nil || raw[0] != '"' {
		return "", "must be a text"
	}
	switch n := utf8.RuneCountInString(text); {
	case halfPair(raw):
		return "", "has half of a surrogate pair"
	case n < least || n > most:
		return "", fmt.Sprintf("must have %d to %d characters, not %d", least, most, n)
	case secret.MatchString(text):
		return "", "holds what looks like a key or token: those must not be sent"
	}
	return text, ""
}

// halfPair reports whether a JSON string escapes half of a surrogate pair, which stands for no character.
func halfPair(raw []byte) bool {
	for i := 0; i < len(raw)-1; i++ {
		if raw[i] != '\\' {
			continue
		}
		first, ok := escaped(raw[i:])
		if i++; !ok || !utf16.IsSurrogate(first) { // also past the character behind the backslash
			continue
		}
		second, ok := escaped(raw[i+5:])
		if !ok || utf16.DecodeRune(first, second) == utf8.RuneError {
			return true
		}
		i += 10
	}
	return false
}

// escaped reads an escape like \u00e4.
func escaped(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return rune(n), err == nil
}

// secret matches API keys and JSON Web Tokens, as they are and with percent escapes.
var secret = regexp.MustCompile(`(?i)\bpk(_|%5f)[a-z]+(_|%5f)[^\s_%]+(_|%5f)[^\s]|\beyj[a-z0-9_-]{5,}\.[a-z0-9_-]{5,}`)

// shown is the name of a member as a problem may repeat it.
func shown(name string) string {
	if secret.MatchString(name) {
		return "[secret]"
	}
	return name
}
