package api

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

// match finds the operation of a path as it came over the wire, and the values of its path parameters, decoded once. Paths are
// compared exactly: another case, a slash more or less is another path.
func match(operations []operation, escapedPath string) (*operation, map[string]string, bool) {
	given, ok := segments(escapedPath)
	if !ok {
		return nil, nil, false
	}
	for i := range operations {
		if values, ok := matches(operations[i].path, given); ok {
			return &operations[i], values, true
		}
	}
	return nil, nil, false
}

// segments are the parts of a path between its slashes, each decoded once: a slash in an id travels as %2F.
func segments(escapedPath string) ([]string, bool) {
	parts := strings.Split(escapedPath, "/")
	for i, part := range parts {
		decoded, err := url.PathUnescape(part)
		if err != nil || !utf8.ValidString(decoded) {
			return nil, false
		}
		parts[i] = decoded
	}
	return parts, true
}

// matches compares a path with an operation's; every segment of the path has been decoded.
func matches(pattern string, given []string) (map[string]string, bool) {
	wanted := strings.Split(pattern, "/")
	if len(wanted) != len(given) {
		return nil, false
	}
	values := make(map[string]string)
	for i, segment := range wanted {
		if name, ok := parameter(segment); ok {
			if given[i] == "" {
				return nil, false
			}
			values[name] = given[i]
		} else if segment != given[i] {
			return nil, false
		}
	}
	return values, true
}

// parameter is the name in a {name} of a path.
func parameter(segment string) (string, bool) {
	if strings.HasPrefix(segment, "{") && strings.HasSuffix(segment, "}") {
		return segment[1 : len(segment)-1], true
	}
	return "", false
}
