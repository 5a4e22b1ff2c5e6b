package query_test

import (
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"tallyhouse/api/problem"
	"tallyhouse/api/query"
	"tallyhouse/reader"
	"tallyhouse/schemas/calendar"
)

var params = []query.Param{
	{Name: "limit", Type: query.Integer(1, 200, 50), Paging: true},
	{Name: "text", Type: query.Text()},
	{Name: "flag", Type: query.Boolean()},
	{Name: "date", Type: query.Date()},
	{Name: "month", Type: query.Month()},
	{Name: "kind", Type: query.Enum("email", "app")},
	{Name: "status", Type: query.List("setup", "paid", "rejected")},
	{Name: "code", Type: query.Code()},
}

func TestValuesAreTakenAsWritten(t *testing.T) {
	for raw, want := range map[string]any{
		"limit=1": int64(1), "limit=200": int64(200), "text=a": "a", "text=a%20b": "a b", "text=a+b": "a b", "text=%2B": "+",
		"text=%26%3D%3B%25": "&=;%", "text=a=b": "a=b",
		"text=%C3%A4": "ä", "text=%c3%a4": "ä", "text=ä": "ä", "text=+": " ", "flag=true": true, "flag=false": false, "kind=email": "email",
		"%6Bind=app":      "app",
		"date=2024-02-29": calendar.NewDate(2024, 2, 29), "date=2299-12-31": calendar.MaxDate,
		"date=0001-01-01": calendar.NewDate(1, 1, 1), "date=9999-12-31": calendar.NewDate(9999, 12, 31),
		"month=2024-02": calendar.NewDate(2024, 2, 1).Month(), "month=9999-12": calendar.NewDate(9999, 12, 1).Month(),
		"&text=a": "a", "text=b&": "b", "&&text=c&&": "c",
		"status=paid": []string{"paid"}, "status=setup,paid": []string{"paid", "setup"}, "status=paid,paid": []string{"paid"},
		"status=paid%2Csetup": []string{"paid", "setup"},
		"code=datev:0700-00":  reader.Code{System: "datev", Code: "0700-00"},
		"code=sap:4:7":        reader.Code{System: "sap", Code: "4:7"},
	} {
		t.Run(raw, func(t *testing.T) {
			values, wrong := query.Parse(raw, params)
			if len(wrong) > 0 {
				t.Fatalf("refused: %v", wrong)
			}
			name, _, _ := strings.Cut(strings.Trim(strings.ReplaceAll(raw, "%6B", "k"), "&"), "=")
			if got := query.Value[any](values, name); !reflect.DeepEqual(got.V, want) {
				t.Errorf("got %#v, want %#v", got.V, want)
			}
		})
	}
	for _, raw := range []string{"", "&", "&&"} {
		if values, wrong := query.Parse(raw, params); len(wrong) > 0 || values.Filters(params) != "" {
			t.Errorf("the query %q holds no parameter: %v, %q", raw, wrong, values.Filters(params))
		}
	}
}

func TestWhatIsWrongIsRefusedByName(t *testing.T) {
	for raw, want := range map[string]struct{ name, reason, suggestion string }{
		"limit=0":                    {"limit", "must be a whole number from 1 to 200", ""},
		"limit=201":                  {"limit", "must be a whole number from 1 to 200", ""},
		"limit=01":                   {"limit", "must be a whole number from 1 to 200", ""},
		"limit=%2B5":                 {"limit", "must be a whole number from 1 to 200", ""},
		"limit=+5":                   {"limit", "must be a whole number from 1 to 200", ""},
		"limit=5.0":                  {"limit", "must be a whole number from 1 to 200", ""},
		"limit=1e2":                  {"limit", "must be a whole number from 1 to 200", ""},
		"limit=-1":                   {"limit", "must be a whole number from 1 to 200", ""},
		"limit=99999999999999999999": {"limit", "must be a whole number from 1 to 200", ""},
		"text":                       {"text", "is empty", ""},
		"text=":                      {"text", "is empty", ""},
		"text=a&text=a":              {"text", "is given more than once", ""},
		"text=a&text=b&text=c":       {"text", "is given more than once", ""},
		"text=%":                     {"text", "the value ends in a broken percent escape", ""},
		"text=%4":                    {"text", "the value ends in a broken percent escape", ""},
		"text=%zz":                   {"text", "the value has a broken percent escape", ""},
		"text=%4z":                   {"text", "the value has a broken percent escape", ""},
		"text=%z4":                   {"text", "the value has a broken percent escape", ""},
		"text=%ff":                   {"text", "the value is not UTF-8", ""},
		"text=%00":                   {"text", "the value holds a NUL character", ""},
		"text=a;b":                   {"text", "the value has a semicolon", ""},
		"text;=a":                    {"text;", "the name has a semicolon", ""},
		"a=1;text=2":                 {"a", "is not a parameter", ""},
		"Text=a":                     {"Text", "is not a parameter of this operation", "text"},
		"lmit=1":                     {"lmit", "is not a parameter of this operation", "limit"},
		"zzzzzz=1":                   {"zzzzzz", "is not a parameter of this operation", ""},
		"=a":                         {"", "a parameter without a name", ""},
		"text=a&=":                   {"", "a parameter without a name", ""},
		"flag=TRUE":                  {"flag", "must be true or false", "true"},
		"flag=1":                     {"flag", "must be true or false", ""},
		"date=2026-2-1":              {"date", "must be a date YYYY-MM-DD", ""},
		"date=2026-02-29":            {"date", "must be a date YYYY-MM-DD", ""},
		"date=2026-02-01T00":         {"date", "must be a date YYYY-MM-DD", ""},
		"date=1899-02-29":            {"date", "must be a date YYYY-MM-DD", ""},
		"date=10000-01-01":           {"date", "must be a date YYYY-MM-DD", ""},
		"date=-001-01-01":            {"date", "must be a date YYYY-MM-DD", ""},
		"month=2026-13":              {"month", "must be a month YYYY-MM", ""},
		"month=2026-02-01":           {"month", "must be a month YYYY-MM", ""},
		"kind=Email":                 {"kind", "is not one of the allowed values", "email"},
		"kind=fax":                   {"kind", "is not one of the allowed values", ""},
		"status=paid,":               {"status", "has an empty item", ""},
		"status=,":                   {"status", "has an empty item", ""},
		"status=paid,%20setup":       {"status", `has the item " setup"`, "setup"},
		"status=paid,rejectd":        {"status", `has the item "rejectd"`, "rejected"},
		"code=datev":                 {"code", "must have the form system:code", ""},
		"code=:1":                    {"code", "must have the form system:code", ""},
		"code=datev:":                {"code", "must have the form system:code", ""},
	} {
		t.Run(raw, func(t *testing.T) {
			_, wrong := query.Parse(raw, params)
			if len(wrong) == 0 {
				t.Fatal("taken")
			}
			got := wrong[0]
			if got.Name != want.name || !strings.HasPrefix(got.Reason, want.reason) || want.suggestion != "" &&
				got.Suggestion != want.suggestion {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestAllThatIsWrongIsReportedAtOnce(t *testing.T) {
	_, wrong := query.Parse("limit=0&what=1&text=&status=paid&kind=fax", params)
	var names []string
	for _, p := range wrong {
		names = append(names, p.Name)
	}
	if strings.Join(names, " ") != "limit what text kind" {
		t.Errorf("got %v", wrong)
	}
	if len(wrong[3].Allowed) != 2 {
		t.Errorf("allowed values are missing: %+v", wrong[3])
	}
}

func TestFiltersAreASet(t *testing.T) {
	parse := func(raw string) string {
		values, wrong := query.Parse(raw, params)
		if len(wrong) > 0 {
			t.Fatal(wrong)
		}
		return values.Filters(params)
	}
	if parse("text=a&status=setup,paid&limit=3") != parse("limit=9&status=paid,setup,paid&text=a") {
		t.Error("the same filters in another order are others")
	}
	for _, other := range []string{"text=b&status=setup,paid", "text=a", "status=setup,paid", "text=a&status=setup",
		"text=a&status=setup,paid&flag=true"} {
		if parse("text=a&status=setup,paid") == parse(other) {
			t.Errorf("%s is the same", other)
		}
	}
	if parse("text=paid") == parse("status=paid") {
		t.Error("one value is the same under two names")
	}
}

func FuzzParse(f *testing.F) {
	for _, raw := range []string{"", "limit=1", "text=%41&flag=true", "a=b&a=b", "status=paid,setup", "%", "&&",
		"text=%ff%00", "date=2026-01-01&code=a:b"} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		values, wrong := query.Parse(raw, params)
		body := (&problem.Error{Kind: problem.InvalidQuery, Detail: "x", Parameters: wrong}).Append(nil, "id")
		if len(body) >= 4096 || !utf8.Valid(body) {
			t.Fatalf("a problem document of %d bytes", len(body))
		}
		if len(wrong) > 0 {
			return
		}
		// What was taken says the same when it is written again.
		again := url.Values{}
		for _, p := range params {
			if values.Given(p.Name) {
				value := query.Value[any](values, p.Name).V
				switch v := value.(type) {
				case []string:
					again.Set(p.Name, strings.Join(v, ","))
				case reader.Code:
					again.Set(p.Name, v.System+":"+v.Code)
				default:
					again.Set(p.Name, fmt.Sprint(v))
				}
			}
		}
		second, wrong := query.Parse(again.Encode(), params)
		if len(wrong) > 0 || !reflect.DeepEqual(values, second) {
			t.Fatalf("%q became %q: %v", raw, again.Encode(), wrong)
		}
	})
}
