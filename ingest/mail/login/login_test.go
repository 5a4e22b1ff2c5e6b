package login_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tallyhouse/ingest/mail/login"
)

func file(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// Given files as editors and mounted secrets have them, then the ends of lines behind a password are none of it, and spaces are.
func TestAPasswordIsAllOfItsFileButTheEnd(t *testing.T) {
	for content, want := range map[string]string{
		"hush": "hush", "hush\n": "hush", "hush\r\n": "hush", "hush\n\n": "hush", " hu sh ": " hu sh ", "a\nb\n": "a\nb",
	} {
		if got, err := login.Password(file(t, content)); err != nil || got != want {
			t.Errorf("%q: %q, %v", content, got, err)
		}
	}
}

// Given files that hold no password or certificate, then the parameter and what is wrong are named, and nothing of what they hold.
func TestWhatIsWrongWithAFileIsNamed(t *testing.T) {
	password := func(name string) error { _, err := login.Password(name); return err }
	authorities := func(name string) error { _, err := login.Authorities(name); return err }
	for name, c := range map[string]struct {
		read func(string) error
		file string
		want string
	}{
		"no password file":    {password, "gone", "password-file: open gone"},
		"an empty one":        {password, file(t, "\n"), "is empty"},
		"no authorities file": {authorities, "gone", "ca: open gone"},
		"no certificate":      {authorities, file(t, "hush"), "holds no PEM certificate"},
	} {
		if err := c.read(c.file); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
