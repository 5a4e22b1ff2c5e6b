package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/pdf/pdftest"
	"tallyhouse/ingest/invoice/sandbox"
)

// The test binary is its own child: TALLYHOUSE_TEST_CHILD says how it behaves.
const behaviour = "TALLYHOUSE_TEST_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(behaviour) {
	case "":
		os.Exit(m.Run())
	case "read":
		if err := sandbox.Child(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "crash":
		var nothing *int
		fmt.Println(*nothing)
	case "hang":
		// The grandchild holds the pipes open, as a stuck tesseract would.
		_ = exec.Command("sleep", "300").Start()
		time.Sleep(5 * time.Minute)
	case "eat":
		// Child sets the limit; its input never ends, so memory is eaten behind it.
		go func() {
			time.Sleep(200 * time.Millisecond)
			var hoard [][]byte
			for {
				b := make([]byte, 8<<20)
				for i := range b {
					b[i] = 1
				}
				hoard = append(hoard, b)
				_ = hoard
			}
		}()
		endless, _ := io.Pipe()
		_ = sandbox.Child(context.Background(), io.MultiReader(strings.NewReader(`{"Memory":268435456}`+"\n"), endless), os.Stdout)
	case "babble":
		for {
			fmt.Print(strings.Repeat("not json ", 1000))
		}
	}
}

func options(t *testing.T, how string) sandbox.Options {
	t.Setenv(behaviour, how)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return sandbox.Options{Command: []string{self}, Options: invoice.Options{NoOCR: true}}
}

func TestAChildReadsTheFile(t *testing.T) {
	o := options(t, "read")
	o.Own.Names = []string{"Somebody else"}
	r, err := sandbox.Run(context.Background(), pdftest.Sample().PDF(), o)
	if err != nil || r.Status != invoice.OK || r.Gross == nil || r.Gross.Value != 1488000 || r.Gross.Rule == "" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestOptionsReachTheChild(t *testing.T) {
	o := options(t, "read")
	o.Limits.Bytes = 100
	r, err := sandbox.Run(context.Background(), pdftest.Sample().PDF(), o)
	if err != nil || r.Reason != invoice.TooLarge {
		t.Errorf("%s %s, %v", r.Status, r.Reason, err)
	}
}

func TestABadChildFailsOnlyItsFile(t *testing.T) {
	cases := []struct {
		behaviour string
		want      invoice.Reason
	}{{"crash", invoice.Crashed}, {"hang", invoice.Timeout}, {"eat", invoice.TooMuchWork}, {"babble", invoice.Timeout}}
	for _, c := range cases {
		t.Run(c.behaviour, func(t *testing.T) {
			o := options(t, c.behaviour)
			o.Limits.Time = time.Second
			if c.behaviour == "eat" {
				o.Limits.Time = time.Minute
			}
			r, err := sandbox.Run(context.Background(), pdftest.Sample().PDF(), o)
			if err != nil || r.Status != invoice.Failed || r.Reason != c.want || r.Detail == "" {
				t.Errorf("%s %s %q, %v, want %s", r.Status, r.Reason, r.Detail, err, c.want)
			}
		})
	}
}

func TestACancelledReadIsAnError(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	o := options(t, "hang")
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := sandbox.Run(ctx, nil, o); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want canceled", err)
	}
}

func TestAMissingChildIsTheInstallationsFault(t *testing.T) {
	if _, err := sandbox.Run(context.Background(), nil, sandbox.Options{Command: []string{"/no/such/program"}}); !errors.Is(err, sandbox.ErrStart) {
		t.Errorf("error = %v, want ErrStart", err)
	}
}

func TestAChildWithoutOptionsRefuses(t *testing.T) {
	for _, in := range []string{"", "no json\n", strings.Repeat("x", 1<<20), `{"Memory":0}` + "\n"} {
		if err := sandbox.Child(context.Background(), strings.NewReader(in), io.Discard); err == nil {
			t.Errorf("Child(%.20q) accepted it", in)
		}
	}
}
