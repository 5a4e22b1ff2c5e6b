package events

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A schema sees values; these are rules about how they are written.
func TestRefusalsOfWhatIsWrittenWrongly(t *testing.T) {
	// given a valid message, when one piece of its text is replaced, then it is refused with this sentence
	for _, c := range []struct{ name, old, new, want string }{
		{"exponent", `"net":10000`, `"net":1e4`, `data.net must be a whole number in plain digits, not 1e4`},
		{"fraction of zero", `"net":10000`, `"net":10000.0`, `data.net must be a whole number in plain digits, not 10000.0`},
		{"number beyond 64 bits", `"net":10000`, `"net":123456789012345678901234567890`,
			`data.net must lie in -9007199254740991..9007199254740991, not 123456789012345678901234567890`},
		{"number that would wrap into range", `"net":10000`, `"net":18446744073709561616`,
			`data.net must lie in -9007199254740991..9007199254740991, not 18446744073709561616`},
		{"leading zero", `"net":10000`, `"net":010000`,
			`data.net is not JSON: byte 368 is '1', expected a number without leading zeros`},
		{"two zeros", `"net":10000`, `"net":00`,
			`data.net is not JSON: byte 368 is '0', expected a number without leading zeros`},
		{"plus", `"net":10000`, `"net":+1`, `data.net is not JSON: byte 367 is '+', expected a value`},
		{"not a number", `"net":10000`, `"net":NaN`, `data.net is not JSON: byte 367 is 'N', expected a value`},
		{"bare minus", `"net":10000`, `"net":-`, `data.net is not JSON: byte 368 is ',', expected a digit`},
		{"twice", `"net":10000`, `"net":10000,"net":10000`, `data.net appears twice`},
		{"twice, once null", `"net":10000`, `"net":null,"net":10000`, `data.net appears twice`},
		{"twice, once escaped", `"net":10000`, `"net":10000,"n\u0065t":10000`, `data.net appears twice`},
		{"ext twice", `"ext":{"any"`, `"ext":1,"ext":{"any"`, `data.ext appears twice`},
		{"trailing comma", `"gross":12000`, `"gross":12000,`, `data is not JSON: byte 400 is ',', expected the name of a member`},
		{"missing comma", `"gross":12000,`, `"gross":12000`, `data is not JSON: byte 399 is '"', expected a comma or '}'`},
		{"missing colon", `"gross":12000`, `"gross" 12000`, `data is not JSON: byte 394 is '1', expected a colon`},
		{"second value", `"ext":{"any":[1,{"x":null}]}}}`, `"ext":{"any":[1,{"x":null}]}}} {}`,
			`the message is not JSON: byte 633 is '{', expected the end`},
		{"cut off", `,"ext":{"any":[1,{"x":null}]}}}`, ``,
			`data is not complete JSON: the text ends after 601 bytes, expected a comma or '}'`},
		{"cut off in a string", `email"},"ext":{"any":[1,{"x":null}]}}}`, `em`,
			`data.intake.channel is not complete JSON: the text ends after 596 bytes, expected the closing quote of a string`},
		{"lone half of a surrogate pair", `M\u00fcller`, `\ud83d`,
			`data.counterpartyName is not JSON: byte 227 is '\\', expected an escape of four hexadecimal digits that is a character`},
		{"halves in the wrong order", `\ud83d\ude00`, `\ude00\ud83d`,
			`data.counterpartyName is not JSON: byte 239 is '\\', expected an escape of four hexadecimal digits that is a character`},
		{"bad escape", `M\u00fcller`, `\x41`, `data.counterpartyName is not JSON: byte 227 is '\\', expected a known escape`},
		{"raw control character", `M\u00fcller`, "a\tb",
			`data.counterpartyName is not JSON: byte 228 is '\t', expected an escaped control character`},
		{"not UTF-8", `M\u00fcller`, "M\xfcller", `the message is not UTF-8 at byte 228`},
		{"not UTF-8 after U+FFFD", `M\u00fcller`, "\uFFFD\xfc", `the message is not UTF-8 at byte 230`},
		{"UTF-8 of a surrogate", `M\u00fcller`, "\xed\xa0\x80", `the message is not UTF-8 at byte 227`},
		{"byte order mark", `{"id"`, "\uFEFF{\"id\"", `the message begins with a byte order mark; send UTF-8 without one`},
		{"another JSON value", invoice, `[]`, `the message must be an object, not an array`},
		{"nothing", invoice, ``, `the message is not complete JSON: the text ends after 0 bytes, expected a value`},
		{"white space alone", invoice, " \n",
			`the message is not complete JSON: the text ends after 2 bytes, expected a value`},
		{"unknown member with an odd name", `"net":10000`, `"ne\u001b[31m":10000`,
			`data."ne\x1b[31m" is not a member of ledger.records`},
		{"unknown member with a long name", `"net":10000`, `"` + strings.Repeat("x", 5000) + `":1`,
			`data.` + strings.Repeat("x", 60) + `… is not a member of ledger.records`},
		{"long value", `"stepKind":"paid"`, `"stepKind":"` + strings.Repeat("ä", 5000) + `"`,
			`data.stepKind must be one of setup, approval, payment, paid, rejected, not "` +
				strings.Repeat("ä", 60) + `…"`},
	} {
		value := strings.Replace(invoice, c.old, c.new, 1)
		if value == invoice {
			t.Errorf("%s: nothing replaced", c.name)
		}
		if _, err := decoded(Records, "demo/R1", value); err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
		if place := regexp.MustCompile(`byte (\d+) is '(.)'`).FindStringSubmatch(c.want); place != nil {
			if at, err := strconv.Atoi(place[1]); err != nil || value[at] != place[2][0] {
				t.Errorf("%s: byte %s is %q, not %q", c.name, place[1], value[at], place[2])
			}
		}
	}
}

func TestDecimalsKeepToTheirDigits(t *testing.T) {
	for _, c := range []struct {
		in     string
		places int
		want   Decimal
		ok     bool
	}{
		{"0", 3, Decimal{}, true}, {"-0.000", 3, Decimal{}, true}, {"12.500", 3, Decimal{125, 1}, true},
		{"-0.001", 3, Decimal{-1, 3}, true}, {"100", 3, Decimal{100, 0}, true}, {"0.0001", 18, Decimal{1, 4}, true},
		{"999999999999999999", 3, Decimal{999999999999999999, 0}, true},
		{"123456789012345.678", 3, Decimal{123456789012345678, 3}, true},
		{"1000000000000000000", 3, Decimal{}, false}, {"1234567890123456.789", 3, Decimal{}, false},
		{"0.0001", 3, Decimal{}, false}, {"1.0000", 3, Decimal{}, false}, {"", 3, Decimal{}, false},
		{"-", 3, Decimal{}, false}, {".", 3, Decimal{}, false}, {"1.", 3, Decimal{}, false}, {".5", 3, Decimal{}, false},
		{"01", 3, Decimal{}, false}, {"00", 3, Decimal{}, false}, {"+1", 3, Decimal{}, false}, {"1e3", 3, Decimal{}, false},
		{"1.2.3", 3, Decimal{}, false}, {"1,5", 3, Decimal{}, false}, {" 1", 3, Decimal{}, false},
		{"--1", 3, Decimal{}, false}, {"٣", 3, Decimal{}, false},
	} {
		got, ok := parseDecimal(c.in, c.places)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%q with %d decimal places: %v %v, want %v %v", c.in, c.places, got, ok, c.want, c.ok)
		}
		if again, err := ParseDecimal(got.String()); ok && (err != nil || again != got) {
			t.Errorf("%q writes %q", c.in, got.String())
		}
	}
}

func TestStringAndNumberFormOfADecimalAreTheSame(t *testing.T) {
	fixing := `{"id":"X","tenantId":"demo","version":1,"op":"upsert","at":"2026-03-01T10:15:00Z","data":{"facilityId":"F","periodStart":"2026-01-01","referenceBp":@}}`
	for _, form := range []string{`"15.5"`, `15.5`, `15.500`, `"15.50"`} {
		e, err := decoded(Fixings, "demo/X", strings.Replace(fixing, "@", form, 1))
		if err != nil || e.Data.(*Fixing).ReferenceBp != (Decimal{155, 1}) {
			t.Errorf("%s: %v, %v", form, e.Data, err)
		}
	}
	for _, form := range []string{`1e1`, `15.5000`, `1.0005`, `"1.0005"`, `"1e1"`, `""`, `"015"`, `true`} {
		_, err := decoded(Fixings, "demo/X", strings.Replace(fixing, "@", form, 1))
		if !strings.HasPrefix(fmt.Sprint(err), "data.referenceBp must be a decimal number") {
			t.Errorf("%s: %v", form, err)
		}
	}
}

func TestNestingIsBounded(t *testing.T) {
	within := func(depth int) string {
		return strings.Replace(invoice, `{"any":[1,{"x":null}]}`, strings.Repeat(`[`, depth)+strings.Repeat(`]`, depth), 1)
	}
	if _, err := decoded(Records, "demo/R1", within(deepest)); err != nil {
		t.Errorf("%d levels under ext: %v", deepest, err)
	}
	const want = "data.ext is nested deeper than 64 levels"
	for _, depth := range []int{deepest + 1, 1 << 20} {
		if _, err := decoded(Records, "demo/R1", within(depth)); err == nil || err.Error() != want {
			t.Errorf("%d levels under ext: %v", depth, err)
		}
	}
	_, err := decoded(Records, "demo/R1", strings.Repeat(`{"id":`, 1<<20))
	if fmt.Sprint(err) != "id must be a string, not an object" {
		t.Errorf("a bomb of objects: %v", err)
	}
}

func TestMessagesAreBoundedInSize(t *testing.T) {
	pad := func(size int) []byte {
		return append([]byte(invoice), bytes.Repeat([]byte(" "), size-len(invoice))...)
	}
	if _, err := Decode(Records, []byte("demo/R1"), pad(MaxMessageBytes)); err != nil {
		t.Errorf("16 MiB: %v", err)
	}
	_, err := Decode(Records, []byte("demo/R1"), pad(20<<20))
	if fmt.Sprint(err) != "the message has 20971520 bytes; at most 16777216 are allowed" {
		t.Errorf("20 MiB: %v", err)
	}
}

func TestDecodedEventsDoNotShareTheCallersMemory(t *testing.T) {
	key, value := []byte("demo/R1"), []byte(invoice)
	e, err := Decode(Records, key, value)
	if err != nil {
		t.Fatal(err)
	}
	clear(key)
	clear(value)
	want, err := decoded(Records, "demo/R1", invoice)
	if err != nil || !reflect.DeepEqual(e, want) {
		t.Errorf("after the buffer was used again: %+v, %v", e, err)
	}
}

func TestKeyIsTenantAndID(t *testing.T) {
	for _, key := range []string{"", "demo", "demo/", "/R1", "demo/R1 ", "demo//R1", "demoxR1", "dem/o/R1", "demo/R\xff"} {
		var invalid *Invalid
		if _, err := decoded(Records, key, invoice); !errors.As(err, &invalid) || invalid.Member != "key" {
			t.Errorf("key %q: %v", key, err)
		}
	}
	slashed := strings.Replace(invoice, `"id":"R1"`, `"id":"a/b/c"`, 1)
	if _, err := decoded(Records, "demo/a/b/c", slashed); err != nil {
		t.Errorf("an id with slashes: %v", err)
	}
}

func TestDeleteHasNoData(t *testing.T) {
	const envelope = `{"id":"R1","tenantId":"demo","version":2,"op":"delete","at":"2026-03-01T10:15:00Z"`
	for _, value := range []string{envelope + `}`, envelope + `,"data":null}`, envelope + `,"ext":{}}`} {
		e, err := decoded(Records, "demo/R1", value)
		if err != nil || e.Data != nil || e.Op != Delete {
			t.Errorf("%s: %+v, %v", value, e, err)
		}
	}
	upsert := strings.Replace(envelope, "delete", "upsert", 1) + `}`
	_, err := decoded(Records, "demo/R1", upsert)
	if fmt.Sprint(err) != "data is missing: an upsert carries the entity's complete state" {
		t.Errorf("an upsert without data: %v", err)
	}
	_, err = decoded(Users, "demo/R1", envelope+`,"data":{"name":"","active":true}}`)
	if fmt.Sprint(err) != "data must be absent when op is delete" {
		t.Errorf("a delete with data: %v", err)
	}
}

func TestAppendRefusesDataOfAnotherTopic(t *testing.T) {
	e := Event{Envelope: Envelope{ID: "1", TenantID: "demo", Version: 1, Op: Upsert}, Data: &User{}}
	if _, err := Append(nil, Keys, e); err == nil || !strings.Contains(err.Error(), "its data are a *events.User") {
		t.Errorf("a user as a key: %v", err)
	}
	if _, err := Append(nil, DeadLetters, e); !errors.Is(err, ErrUnknownTopic) {
		t.Errorf("a user as a dead letter: %v", err)
	}
	var invalid *Invalid
	e.ID = ""
	if _, err := Encode(Users, e); !errors.As(err, &invalid) || invalid.Member != "id" {
		t.Errorf("an event without id: %v", err)
	}
}

func TestTextsThatAreNoUTF8AreMendedInWriting(t *testing.T) {
	e := Event{Envelope: Envelope{ID: "1", TenantID: "demo", Version: 1, Op: Upsert},
		Data: &User{Name: "a\xffb\xed\xa0\x80\x00\x1f\"\\/\n"}}
	value, err := Append([]byte("before "), Users, e)
	if err != nil || !bytes.Contains(value, []byte(`before {"id":"1"`)) {
		t.Fatalf("%s, %v", value, err)
	}
	text := strings.Replace(strings.TrimPrefix(string(value), "before "), "0001-01-01", "2026-01-01", 1)
	back, err := decoded(Users, "demo/1", text)
	if err != nil || back.Data.(*User).Name != "a\uFFFDb\uFFFD\uFFFD\uFFFD\x00\x1f\"\\/\n" {
		t.Errorf("%s: %+v, %v", value, back.Data, err)
	}
}
