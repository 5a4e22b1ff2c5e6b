// Package desktest looks at the desk as people do: in a real browser without a window, Debian's chromium. It reports what axe-core
// finds, and what the browser refuses by the page's policy or reports as an error.
package desktest

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/sethvargo/go-retry"
)

//go:embed axe.min.js.gz
var archivedAxe []byte

const (
	// within bounds each step in the browser, for a hung test: it asserts nothing.
	within    = time.Minute
	waitEvery = 20 * time.Millisecond
	// Phone and Screen are widths of windows, in pixels.
	Phone  = 375
	Screen = 1600
)

// Browser is a running browser.
type Browser struct {
	ctx context.Context
	axe string
}

// Start runs a browser until the test is over.
func Start(t testing.TB) *Browser {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	if program == "" {
		t.Fatal("the tests of the desk need chromium: .ci/install installs it")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.UserDataDir(t.TempDir()), chromedp.Flag("disable-dev-shm-usage", true))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(allocator)
	t.Cleanup(end)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start %s: %v", program, err)
	}
	unpacking, err := gzip.NewReader(bytes.NewReader(archivedAxe))
	if err != nil {
		t.Fatal(err)
	}
	axe, err := io.ReadAll(unpacking)
	if err != nil {
		t.Fatal(err)
	}
	return &Browser{ctx: ctx, axe: string(axe)}
}

// Person is somebody with cookies of their own and one window.
type Person struct {
	testing.TB
	ctx context.Context
	axe string

	mu       sync.Mutex
	expected string
	passed   int
	errors   []string
	bytes    int64
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func call[P, R any](p *Person, command cdp.Command[P, R], params P) error {
	_, err := chromedp.Call(p.ctx, command, params)
	return err
}

// Person opens a window for somebody who reads a language, like de-AT. What goes wrong in it fails the test when that ends.
func (b *Browser) Person(t testing.TB, language string) *Person {
	t.Helper()
	p := &Person{TB: t, axe: b.axe}
	var end context.CancelFunc
	p.ctx, end = chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(end)
	must(p, errors.Join(chromedp.Listen(p.ctx, p.listen), call(p, network.Enable, network.EnableParams{}),
		call(p, log.Enable, cdp.Empty{}), call(p, runtime.Enable, cdp.Empty{}), call(p, network.SetExtraHTTPHeaders,
			network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": language}})))
	p.Window(Screen, false)
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, e := range p.errors {
			t.Errorf("the browser reports: %s", e)
		}
	})
	return p
}

// Expect lets messages pass that hold the text, like those of answers with an error's status.
func (p *Person) Expect(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expected, p.passed = text, 0
}

// Passed is how many messages have passed since Expect.
func (p *Person) Passed() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.passed
}

func (p *Person) listen(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	report := func(text string) {
		if p.expected != "" && strings.Contains(text, p.expected) {
			p.passed++
			return
		}
		p.errors = append(p.errors, text)
	}
	switch e := event.(type) {
	case *network.EventLoadingFinished:
		p.bytes += int64(e.EncodedDataLength)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Source == log.EntrySourceSecurity {
			report(e.Entry.Text + " " + e.Entry.URL)
		}
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		report(text)
	}
}

// Do does things one after the other.
func (p *Person) Do(steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	ctx, stop := context.WithTimeout(p.ctx, within)
	defer stop()
	must(p, chromedp.Do(ctx, steps...))
}

// Window sets the width of the window, and whether the person likes it dark.
func (p *Person) Window(width int64, dark bool) {
	p.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	p.Do(chromedp.EmulateViewport(width, 900))
	must(p, call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}}))
}

// Open loads a page and waits until htmx has brought what it brings by itself. It returns how many bytes came over the wire.
func (p *Person) Open(address string) (received int64) {
	p.Helper()
	p.mu.Lock()
	p.bytes = 0
	p.mu.Unlock()
	p.Do(chromedp.Navigate(address))
	p.Settled()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bytes
}

// Settled waits until no request of htmx is under way, having scrolled to what is brought when it is seen.
func (p *Person) Settled() {
	p.Helper()
	p.Wait(`(() => {
		const awaited = document.querySelector("[data-awaited]");
		if (awaited) awaited.scrollIntoView();
		return !awaited && document.readyState === "complete" && !document.querySelector(".htmx-request");
	})()`)
	Evaluate[int](p, `scrollTo(0, 0), 0`)
}

// Text is what the page shows.
func (p *Person) Text() string {
	p.Helper()
	return Evaluate[string](p, `document.body.innerText`)
}

// Evaluate is the value of an expression in the page, also of one that is promised.
func Evaluate[T any](p *Person, expression string) T {
	p.Helper()
	ctx, stop := context.WithTimeout(p.ctx, within)
	defer stop()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	must(p, err)
	return value
}

// The rules of axe-core that a page is held to, and those of them that colours decide.
const (
	allRules    = `{type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}`
	colourRules = `{type: "rule", values: ["color-contrast", "link-in-text-block"]}`
)

// Check reports what axe-core finds of the page as it is, by the rules of WCAG 2.2, levels A and AA, and whether something does not
// fit into the window. It leaves frames alone: the one that pages are drawn in has no origin that it could talk to, and nothing
// but a picture.
func (p *Person) Check(what string) {
	p.Helper()
	p.check(what, allRules)
	if wide := Evaluate[int](p, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); wide > 0 {
		p.Errorf("%s: the page is %d pixels wider than the window", what, wide)
	}
}

// CheckColours reports what axe-core finds of a page's colours alone: enough for one that was checked in other colours.
func (p *Person) CheckColours(what string) {
	p.Helper()
	p.check(what, colourRules)
}

func (p *Person) check(what, rules string) {
	p.Helper()
	if !Evaluate[bool](p, `"axe" in window`) {
		Evaluate[int](p, p.axe+"\n;0")
	}
	run := `axe.run(document, {iframes: false, resultTypes: ["violations"], runOnly: ` + rules + `})`
	text := Evaluate[string](p, run+`.then((found) => JSON.stringify(
		found.violations.map((v) => ({rule: v.id, help: v.help, nodes: v.nodes.slice(0, 3).map((n) => n.html + " " + n.failureSummary)}))))`)
	var found []struct {
		Rule, Help string
		Nodes      []string
	}
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		p.Fatal(err)
	}
	for _, f := range found {
		p.Errorf("%s: %s: %s\n\t%s", what, f.Rule, f.Help, strings.Join(f.Nodes, "\n\t"))
	}
}

// Picture is what the window shows, as a PNG.
func (p *Person) Picture() []byte {
	p.Helper()
	ctx, stop := context.WithTimeout(p.ctx, within)
	defer stop()
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	must(p, err)
	return picture
}

// Wait waits until an expression in the page is true, whatever pages come meanwhile.
func (p *Person) Wait(expression string) {
	p.Helper()
	ctx, stop := context.WithTimeout(p.ctx, within)
	defer stop()
	err := retry.Constant(ctx, waitEvery, func(ctx context.Context) error {
		is, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		if err == nil && !is {
			err = errors.New("it is not")
		}
		return retry.RetryableError(err)
	})
	if err != nil {
		p.Fatalf("%.200s is not so: %v\n%s", expression, err, p.Text())
	}
}
