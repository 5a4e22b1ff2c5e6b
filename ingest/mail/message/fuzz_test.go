package message

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// Whatever a header holds, reading it ends, within the bounds of what is taken of each value.
func FuzzHeader(f *testing.F) {
	for _, seed := range []string{
		"To: a@b.example\r\n folded\r\nno field\r\n: nameless\r\n\r\nbody", "Subject: =?utf-8?Q?=C3=A4?= =?x?B?!?=\n",
		"Message-ID: <x\r\n y>\r\n", "From: \"a\" <b@c>, d@e (f), g: h@i;\r\n", "\r\n", "From a@b\r\nX : y\r\n",
		"To: " + strings.Repeat("x", 60_000) + "@b.example, <c@" + strings.Repeat("y.", 300) + "example>\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		block, body := splitHeader(raw)
		if len(block)+len(body) > len(raw) {
			t.Fatal("header and body are longer than the mail")
		}
		lenient := readLeniently(block, 100)
		if len(lenient.fields) > 100 {
			t.Fatalf("%d fields were read", len(lenient.fields))
		}
		for _, h := range []Header{ReadHeader(raw), lenient} {
			for _, one := range h.fields {
				if strings.ToLower(one.name) != one.name && utf8.ValidString(one.name) || strings.ContainsAny(one.name, "\n:") {
					t.Fatalf("a field is called %q", one.name)
				}
				if len(h.Text(one.name)) > 4*longestText {
					t.Fatal("a text is longer than its bound")
				}
				for _, a := range h.Addresses(one.name) {
					if !strings.Contains(a, "@") || len(a) > longestAddress {
						t.Fatalf("%.400q is no address", a)
					}
				}
			}
			if len(h.MessageID()) > longestID {
				t.Fatal("an id is longer than its bound")
			}
		}
	})
}

// Whatever a field holds, its parameters have names, and files that are called by them have no directories.
func FuzzParameters(f *testing.F) {
	for _, seed := range []string{
		`multipart/mixed; boundary="a b"; x=y`, `application/pdf; name*0*=utf-8''%C3%A4; name*1="b.pdf"`, `a; name="..\..\x`, `x; =y; ;`, `x; *=y; *0*=z; name *0=a`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, read := range []func(string) (string, map[string]string){Structured, structuredLeniently} {
			_, parameters := read(s)
			for name, value := range parameters {
				if name == "" {
					t.Fatal("a parameter has no name")
				}
				if file := cleanName(value); strings.ContainsAny(file, "/\\\x00\n") || len([]rune(file)) > longestName {
					t.Fatalf("a file is called %q", file)
				}
			}
		}
	})
}

// Whatever is encoded, what comes out is no longer than what went in, and the same for the same.
func FuzzDecoded(f *testing.F) {
	f.Add("base64", []byte("JVBERi0=MS43"))
	f.Add("quoted-printable", []byte("a=3D=\r\n b=4 \t\r\n"))
	f.Fuzz(func(t *testing.T, encoding string, body []byte) {
		before := bytes.Clone(body)
		got, _ := decoded(encoding, body)
		if len(got) > len(body) {
			t.Fatalf("%d bytes became %d", len(body), len(got))
		}
		if !bytes.Equal(before, body) {
			t.Fatal("what was decoded has changed")
		}
	})
}

// fuzzContainer takes files out of a container, within the limits.
func fuzzContainer(f *testing.F, take func(w *walk, data []byte) error) {
	f.Fuzz(func(t *testing.T, data []byte) {
		w := walk{limits: Limits{Parts: 20, Depth: 3, Files: 5, Unpacked: 1 << 16}.withDefaults()}
		_ = take(&w, data) // an error is an answer
		if len(w.files) > 5 || w.unpacked > 1<<16+1 {
			t.Fatalf("%d files, %d bytes unpacked", len(w.files), w.unpacked)
		}
		for _, one := range w.files {
			if one.Name == "" || strings.ContainsAny(one.Name, "/\\\x00\n") {
				t.Fatalf("a file is called %q", one.Name)
			}
		}
	})
}

func FuzzZip(f *testing.F) {
	f.Add([]byte("PK\x03\x04%PDF-1.7PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	fuzzContainer(f, func(w *walk, data []byte) error { return w.zip("a.zip", data, 0) })
}

func FuzzTNEF(f *testing.F) {
	f.Add([]byte("\x78\x9f\x3e\x22\x01\x00\x02\x02\x90\x06\x00\x00\x00\x00\x00\x00\x00\x02\x0f\x80\x06\x00\x05\x00\x00\x00%PDF-\x00\x00"))
	fuzzContainer(f, func(w *walk, data []byte) error { return w.tnef(data, 0) })
}

func FuzzSigned(f *testing.F) {
	f.Add([]byte("\x30\x2c\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02\xa0\x1f\x30\x1d\x02\x01\x01\x31\x00\x30\x14" +
		"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01\xa0\x07\x04\x05%PDF-"))
	f.Add([]byte("\x30\x80\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02\xa0\x80\x30\x80\x02\x01\x01\x31\x00\x30\x80\x06\x01\x01\xa0\x80\x24\x80\x04\x01x"))
	fuzzContainer(f, func(w *walk, data []byte) error {
		_ = containerOf("application/pkcs7-mime", "smime.p7m", data)
		return w.signed("x.p7m", data, 0)
	})
}

// Whatever the sandboxed process writes, what is taken of it is within the bounds of Read.
func FuzzResults(f *testing.F) {
	f.Add([]byte(`[{"MessageID":"a","Files":[{"Name":"a.pdf","Bytes":5},{"Name":"../x\u202e.xml","Bytes":0,"XML":true}]}]` + "\n%PDF-"))
	f.Add([]byte(`[{"Broken":"why\u0000"}]` + "\n"))
	f.Add([]byte(`[{"Files":[{"Name":"a","Bytes":-1}]}]` + "\n"))
	f.Add([]byte(`[{"MessageID":"` + strings.Repeat("x", longestID+1) + `"}]` + "\n"))
	f.Add([]byte(`[{"Files":[` + strings.Repeat(`{"Name":"a"},`, 3) + `{"Name":"a"}]}]` + "\n"))
	f.Add([]byte("[{},{}]\n"))
	f.Fuzz(func(t *testing.T, output []byte) {
		limits := Limits{Files: 3}.withDefaults()
		all, err := results(output, 1, limits)
		if err != nil {
			if strings.Contains(err.Error(), "%!w(<nil>)") {
				t.Fatalf("the error has none of its own: %v", err)
			}
			return
		}
		r := all[0]
		if r.Err != nil && len(r.Err.Error()) > 4*longestSentence+3 || len(r.Mail.MessageID) > longestID ||
			len(r.Mail.Missed) > 4*longestSentence+3 || len(r.Mail.Files) > limits.Files {
			t.Fatalf("got %+v", r)
		}
		size := 0
		for _, one := range r.Mail.Files {
			size += len(one.Data)
			if one.Name == "" || strings.ContainsAny(one.Name, "/\\\x00\n") || len([]rune(one.Name)) > longestName {
				t.Fatalf("a file is called %q", one.Name)
			}
		}
		if size > len(output) {
			t.Fatalf("%d bytes were taken of %d", size, len(output))
		}
	})
}
