package events

import (
	"reflect"
	"testing"
)

func TestStoredListsAreReadAsEventsAre(t *testing.T) {
	codes := []AccountingCode{
		{System: "datev", Code: "1", Name: Some("Ä\"\n"), TaxKey: Some(""), Inherited: true},
		{System: "another", Code: "2"},
	}
	const text = `[{"system":"datev","code":"1","name":"Ä\"\n","taxKey":"","inherited":true},` +
		`{"system":"another","code":"2","name":null,"taxKey":null,"inherited":false}]`
	if got, err := ParseCodes(text); err != nil || !reflect.DeepEqual(got, codes) {
		t.Errorf("codes: %+v, %v", got, err)
	}
	documents := []Document{{Name: "a.pdf", Kind: "original"}, {Name: "", Kind: "stamped"}}
	got, err := ParseDocuments(`[{"name":"a.pdf","kind":"original"},{"name":"","kind":"stamped"}]`)
	if err != nil || !reflect.DeepEqual(got, documents) {
		t.Errorf("documents: %+v, %v", got, err)
	}
	for _, none := range []string{"", "[]"} {
		if got, err := ParseCodes(none); err != nil || got != nil {
			t.Errorf("%q: %+v, %v", none, got, err)
		}
	}
	for _, broken := range []string{"[", "[]]", "{}", "null", `[{"system":"datev"}]`, `[{"system":"datev","code":1}]`} {
		if got, err := ParseCodes(broken); err == nil || got != nil {
			t.Errorf("%s is read as %+v", broken, got)
		}
	}
}
