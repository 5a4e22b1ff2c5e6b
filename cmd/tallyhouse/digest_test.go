package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"text/template"
)

// The digest says of a mail what the desk's inbox says of it, in each language, and has words for all that the inbox has.
func TestDigestsSayWhatTheInboxSays(t *testing.T) {
	for _, language := range []string{"de", "en"} {
		content, err := os.ReadFile(top + "/api/desk/language/messages/" + language + "/inbox.json")
		if err != nil {
			t.Fatal(err)
		}
		inbox := map[string]string{}
		if err := json.Unmarshal(content, &inbox); err != nil {
			t.Fatal(err)
		}
		texts, err := template.ParseFiles(top + "/ingest/mail/answer/texts/" + language + ".tmpl")
		if err != nil {
			t.Fatal(err)
		}
		compared := 0
		for _, one := range texts.Templates() {
			kind, name, _ := strings.Cut(one.Name(), " ")
			if kind != "inbox" && kind != "inboxState" && kind != "inboxReason" && kind != "field" {
				continue
			}
			var said strings.Builder
			if err := one.Execute(&said, "{0}"); err != nil {
				t.Fatal(err)
			}
			if want := inbox[kind+"."+name]; said.String() != want {
				t.Errorf("%s: the digest says %q of %s, the inbox %q", language, said.String(), one.Name(), want)
			}
			compared++
		}
		if compared == 0 {
			t.Errorf("%s: nothing was compared", language)
		}
		for key := range inbox {
			if kind, name, _ := strings.Cut(key, "."); (kind == "inboxState" || kind == "inboxReason") && texts.Lookup(kind+" "+name) == nil {
				t.Errorf("%s: the digest has no words for %s", language, key)
			}
		}
	}
}
