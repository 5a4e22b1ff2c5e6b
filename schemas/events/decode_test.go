package events

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

const invoice = `{"id":"R1","tenantId":"demo","version":7,"op":"upsert","at":"2026-03-01T10:15:00.5Z","data":{"projectId":"P1",
 "source":"invoice","direction":"out","stepKind":"paid","workflowStep":null,"contractorId":"C1","counterpartyName":"M\u00fcller \ud83d\ude00",
 "invoiceNumber":"2026/17","recognitionDate":"2026-02-01","paidAt":"2026-02-28T23:30:00Z","currency":"EUR","net":10000,"tax":2000,
 "gross":12000,"allocations":[{"nodeId":"N1","net":9999},{"net":1}],"certifiedCodes":[{"system":"datev","code":"0042","inherited":true}],
 "documents":[{"name":"a.pdf","kind":"original"}],"intake":{"channel":"email"},"ext":{"any":[1,{"x":null}]}}}`

// decoded is what Decode returns.
func decoded(topic Topic, key, value string) (Event, error) {
	return Decode(topic, []byte(key), []byte(value))
}

func TestDecodeReadsAnInvoice(t *testing.T) {
	e, err := decoded(Records, "demo/R1", invoice)
	if err != nil {
		t.Fatal(err)
	}
	r := e.Data.(*Record)
	if e.Key() != "demo/R1" || e.Version != 7 || e.Op != Upsert || e.At.Nanosecond() != 5e8 {
		t.Errorf("the envelope is %+v", e.Envelope)
	}
	if r.CounterpartyName.V != "Müller 😀" || r.WorkflowStep.Ok ||
		r.Allocations[0] != (RecordAllocation{Some("N1"), Some[int64](9999)}) || !r.CertifiedCodes.V[0].Inherited || r.PaidAt.V.Hour() != 23 || r.RecognitionDate.V.String() != "2026-02-01" ||
		r.Intake.Channel != "email" {
		t.Errorf("the record is %+v", r)
	}
	value, err := Encode(Records, e)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Decode(Records, []byte(e.Key()), value)
	if err != nil || !reflect.DeepEqual(again, e) {
		t.Errorf("written and read again: %+v, %v", again, err)
	}
}

func TestDecodeTellsNullValuesAndUnknownTopicsApart(t *testing.T) {
	if _, err := Decode(Records, []byte("demo/R1"), nil); !errors.Is(err, ErrTombstone) {
		t.Errorf("a null value: %v", err)
	}
	_, err := decoded("ledger.recrods", "demo/R1", invoice)
	if !errors.Is(err, ErrUnknownTopic) || !strings.Contains(err.Error(), "recrods") {
		t.Errorf("an unknown topic: %v", err)
	}
}

func TestRefusalsNameMemberAndRule(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`"net":10000`, `"nett":10000`, `data.nett is not a member of ledger.records (did you mean net?)`},
		{`"net":10000`, `"net":1e4`, `data.net must be a whole number in plain digits, not 1e4`},
		{`"net":10000`, `"net":9007199254740992`,
			`data.net must lie in -9007199254740991..9007199254740991, not 9007199254740992`},
		{`"net":10000`, `"net":10001`, `data.allocations add up to 10000, not to net 10001`},
		{`"net":10000`, `"net":null`, `data.net is null, but data.allocations[0].net is not`},
		{`{"net":1}`, `{"net":"1"}`, `data.allocations[1].net must be a whole number, not the string "1"`},
		{`"currency":"EUR",`, ``, `data.currency is missing, but the record has amounts`},
		{`"projectId":"P1",`, ``, `data.projectId is missing`},
		{`"projectId":"P1"`, `"projectId":null`, `data.projectId is null, but required`},
		{`"projectId":"P1"`, `"projectId":"P\u0000"`, `data.projectId must not contain the character U+0000, but is "P\x00"`},
		{`"source":"invoice"`, `"source":"a\u0000"`, `data.source must not contain the character U+0000, but is "a\x00"`},
		{`"stepKind":"paid"`, `"stepKind":"payed"`,
			`data.stepKind must be one of setup, approval, payment, paid, rejected, not "payed"`},
		{`"paidAt":"2026-02-28T23:30:00Z",`, ``, `data.stepKind is paid, but neither paidAt nor cashDate says when`},
		{`"version":7`, `"version":0`, `version must lie in 1..9007199254740991, not 0`},
		{`"version":7`, `"version":7,"version":8`, `version appears twice`},
		{`"id":"R1"`, `"id":"R2"`, `key must be tenantId/id, here "demo/R2", not "demo/R1"`},
		{`"kind":"original"`, `"kind":""`,
			`data.documents[0].kind must have 1 to 100 characters, not 0 (known values: original, approved, other)`},
		{`M\u00fcller \ud83d\ude00`, `\ud83d`,
			`data.counterpartyName is not JSON: byte 227 is '\\', expected an escape of four hexadecimal digits that is a character`},
	} {
		_, err := decoded(Records, "demo/R1", strings.Replace(invoice, c.old, c.new, 1))
		var invalid *Invalid
		if !errors.As(err, &invalid) || err.Error() != c.want {
			t.Errorf("%s for %s:\n got %v\nwant %s", c.new, c.old, err, c.want)
		}
	}
}
