package query

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tallyhouse/api/cursor"
	"tallyhouse/api/resource"
	"tallyhouse/reader"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/jsonschema"
)

// Text is any string that is not empty.
func Text() Type {
	return Type{
		Schema: &resource.Schema{Type: "string", MinLength: jsonschema.Number(1)},
		Parse:  func(text string) (any, string) { return text, "" },
	}
}

// Cursor is a place in a list.
func Cursor() Type {
	return Type{
		Schema: &resource.Schema{Type: "string", MinLength: jsonschema.Number(1),
			MaxLength: jsonschema.Number(cursor.MaxLength)},
		Parse: func(text string) (any, string) { return text, "" },
	}
}

// Integer is a whole number of the range, written plainly: without sign, leading zeros or exponent.
func Integer(least, most, otherwise int64) Type {
	reason := fmt.Sprintf("must be a whole number from %d to %d", least, most)
	return Type{
		Schema: &resource.Schema{Type: "integer", Minimum: &least, Maximum: &most, Default: otherwise},
		Parse: func(text string) (any, string) {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil || n < least || n > most || strconv.FormatInt(n, 10) != text {
				return nil, reason
			}
			return n, ""
		},
	}
}

// Boolean is true or false.
func Boolean() Type {
	return Type{
		Schema:  &resource.Schema{Type: "boolean"},
		Allowed: []string{"true", "false"},
		Parse: func(text string) (any, string) {
			switch text {
			case "true":
				return true, ""
			case "false":
				return false, ""
			}
			return nil, "must be true or false"
		},
	}
}

// Date is a calendar date, a calendar.Date, of any year that has four digits: it may lie outside the ledger's range.
func Date() Type {
	return Type{
		Schema: &resource.Schema{Type: "string", Format: "date"},
		Parse: func(text string) (any, string) {
			d, err := calendar.ParseAnyDate(text)
			if err != nil {
				return nil, "must be a date YYYY-MM-DD that exists"
			}
			return d, ""
		},
	}
}

// Month is a calendar month, a calendar.Month, of any year that has four digits.
func Month() Type {
	return Type{
		Schema: resource.MonthSchema(),
		Parse: func(text string) (any, string) {
			m, err := calendar.ParseAnyMonth(text)
			if err != nil {
				return nil, "must be a month YYYY-MM"
			}
			return m, ""
		},
	}
}

// Enum is one of the values.
func Enum(values ...string) Type {
	return Type{
		Schema:  &resource.Schema{Type: "string", Enum: values},
		Allowed: values,
		Parse: func(text string) (any, string) {
			if !slices.Contains(values, text) {
				return nil, "is not one of the allowed values"
			}
			return text, ""
		},
	}
}

// listStyle is how OpenAPI calls a list that is written with commas.
const listStyle = "form"

// List is a set of the values, separated by commas: a []string, sorted, each once.
func List(values ...string) Type {
	return Type{
		Schema: &resource.Schema{Type: "array", Items: &resource.Schema{Type: "string", Enum: values},
			MinItems: jsonschema.Number(1)},
		Style:   listStyle,
		Allowed: values,
		Parse: func(text string) (any, string) {
			var set []string
			for item := range strings.SplitSeq(text, ",") {
				switch {
				case item == "":
					return nil, "has an empty item"
				case !slices.Contains(values, item):
					return nil, fmt.Sprintf("has the item %q, which is not one of the allowed values", item)
				}
				set = append(set, item)
			}
			slices.Sort(set)
			return slices.Compact(set), ""
		},
	}
}

// Code is an accounting code as system:code, a reader.Code; the code may hold further colons.
func Code() Type {
	return Type{
		Schema: &resource.Schema{Type: "string", Pattern: "^[^:]+:.+$"},
		Parse: func(text string) (any, string) {
			system, code, ok := strings.Cut(text, ":")
			if !ok || system == "" || code == "" {
				return nil, "must have the form system:code, like datev:0700-00"
			}
			return reader.Code{System: system, Code: code}, ""
		},
	}
}
