package api

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"
)

// examples has a request of each operation, by its id, and what the API answers to it on the sample data of
// `tallyhouse dev`. A test asks and compares.
//
//go:embed examples/*.json
var examples embed.FS

// example is one of them.
type example struct {
	Request  string          `json:"request"` // method and target
	Body     json.RawMessage `json:"body"`    // of what takes one
	Response json.RawMessage `json:"response"`
	path     map[string]string
}

// readExample is the example of an operation; the zero value when it has none.
func readExample(o *operation) (example, error) {
	var e example
	text, err := examples.ReadFile("examples/" + o.id + ".json")
	if errors.Is(err, fs.ErrNotExist) {
		return e, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	if err != nil {
		return e, fmt.Errorf("read the example of %s: %w", o.id, err)
	}
	_, target, _ := strings.Cut(e.Request, " ")
	path, _, _ := strings.Cut(target, "?")
	segments := strings.Split(path, "/")
	e.path = make(map[string]string)
	for i, segment := range strings.Split(o.path, "/") {
		if i >= len(segments) {
			return e, fmt.Errorf("the example of %s asks for %s", o.id, path)
		}
		if name, ok := parameter(segment); ok {
			if e.path[name], err = url.PathUnescape(segments[i]); err != nil {
				return e, fmt.Errorf("the example of %s: %w", o.id, err)
			}
		} else if segment != segments[i] {
			return e, fmt.Errorf("the example of %s asks for %s", o.id, path)
		}
	}
	return e, nil
}

// shown is the example's body or response as a part of the OpenAPI document.
func (e example) shown(part json.RawMessage) map[string]documentExample {
	if part == nil {
		return nil
	}
	return map[string]documentExample{"sample": {Summary: e.Request, Value: part}}
}
