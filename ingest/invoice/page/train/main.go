// Command train learns how the reader of pages decides, from invoices that package layouts draws, and writes the weights.
// The same families always give the same weights.
//
//	go run ./ingest/invoice/page/train ingest/invoice/page/testdata ingest/invoice/accuracy/testdata/letters/studied \
//		ingest/invoice/page/model/weights.json
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/page"
	"tallyhouse/ingest/invoice/page/layouts"
	"tallyhouse/ingest/invoice/page/model"
	"tallyhouse/ingest/invoice/page/typed"
	"tallyhouse/ingest/invoice/text"
)

// held is the seed from which on families calibrate what training has learnt; they have wordings that it didn't see.
const held = 2_000_000

func main() {
	families := flag.Int("families", 2000,
		"how many families to learn from, half as many letters besides; a fourth as many others calibrate it")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: train [--families N] SAMPLES LETTERS FILE")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 3 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(flag.Arg(0), flag.Arg(1), flag.Arg(2), *families); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

func run(samples, letters, file string, families int) error {
	m, err := train(samples, letters, families)
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		return fmt.Errorf("writing weights: %w", err)
	}
	if err := os.WriteFile(file, append(bytes.TrimSpace(data), '\n'), 0o644); err != nil {
		return fmt.Errorf("writing weights: %w", err)
	}
	return nil
}

// source says where an invoice is from.
type source int

const (
	forms        source = iota // drawn
	letters                    // drawn, as letters are
	typedPages                 // by people, with all that is to be read
	typedLetters               // by people, without the supplier's name
	handmade                   // letters by people, as PDFs
)

// drawn is an invoice as the reader gets it.
type drawn struct {
	layouts.Invoice
	source source
	doc    text.Document
	own    page.Own
	also   []string // other names of the supplier on it
}

// draw draws invoices of families, half as many of them as letters.
func draw(from, families int, unseen bool) ([]drawn, error) {
	drawer, err := layouts.NewDrawer()
	if err != nil {
		return nil, err
	}
	var out []drawn
	for seed := from; seed < from+families; seed++ {
		out = append(out, asRead(drawer.Family(seed, unseen).Draw(seed%7), forms))
		if seed%2 == 1 {
			out = append(out, asRead(drawer.Letter(seed, unseen).Draw(seed%7), letters))
		}
	}
	return out, nil
}

func asRead(v layouts.Invoice, from source) drawn {
	d := drawn{Invoice: v, source: from, doc: v.Document()}
	if v.Buyer != "" {
		d.own.Names = []string{v.Buyer}
	}
	return d
}

// sampled reads the typed pages below a folder: what stands on each in its first line, as "number | date | …".
func sampled(folder string) ([]drawn, error) {
	var out []drawn
	for _, kind := range []struct {
		name   string
		source source
		values int // of the first line
	}{{"pages", typedPages, 9}, {"languages", typedPages, 9}, {"letters", typedLetters, 6}} {
		files, err := filepath.Glob(filepath.Join(folder, kind.name, "*.txt"))
		if err != nil {
			return nil, fmt.Errorf("listing samples: %w", err)
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("no samples in %s", filepath.Join(folder, kind.name))
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("reading sample: %w", err)
			}
			first, lines, _ := strings.Cut(string(data), "\n")
			values := strings.Split(first, " | ")
			if len(values) != kind.values {
				return nil, fmt.Errorf("%s: its first line has %d values, want %d", file, len(values), kind.values)
			}
			for i := range values {
				values[i] = strings.TrimPrefix(values[i], "-")
			}
			d := drawn{doc: typed.Document(lines), source: kind.source}
			d.Number, d.Date, d.DueDate = values[0], values[1], values[2]
			if kind.source == typedPages {
				d.Supplier = values[3]
			}
			if err := d.sums(values[len(values)-3:]); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			out = append(out, d)
		}
	}
	return out, nil
}

// sums takes net, tax and gross as a sample's first line states them; empty ones aren't certain.
func (d *drawn) sums(values []string) error {
	for i, part := range []*int64{&d.Net, &d.Tax, &d.Gross} {
		if values[i] == "" {
			continue
		}
		v, err := strconv.ParseInt(values[i], 10, 64)
		if err != nil {
			return fmt.Errorf("a sum of the first line: %w", err)
		}
		*part = v
	}
	d.HasNet, d.HasTax = values[0] != "", values[1] != ""
	return nil
}

// lesson is a field that weights decide on, with the test for its right candidates.
type lesson struct {
	field  string
	right  func(layouts.Invoice, model.Candidate) bool
	shrink float64  // see model.Train
	learns []source // what it learns from
	worth  int      // how many drawn invoices a typed page counts for: those are few, and people set them
	ruled  bool     // rules say, too, which value is stated and whether one is: its confidence is learnt from what they let through
}

// shrink is how much weights are pulled to nothing where labels say most.
const shrink = 0.0002

// lessons lists them in rounds: what is decided in one is seen by the next. What each learns from was tried: names and due
// dates gained by drawn letters, numbers and days by typed ones, which cost sums, and don't say whose they are.
func lessons() [][]lesson {
	name := lesson{fields.SupplierName, rightName, 0.0005, []source{forms, letters, typedPages}, 25, true}
	labelled := []source{forms, typedPages, typedLetters}
	return [][]lesson{
		{{fields.Number, rightNumber, shrink, labelled, 25, false}, {page.Sums, rightSums, shrink, []source{forms, typedPages}, 15, false}, name},
		{{fields.Date, rightDate, shrink, labelled, 15, false}, name}, // by now the name says whose the tax ids are
		{{fields.DueDate, rightDueDate, shrink, []source{forms, letters, typedPages}, 25, false}},
	}
}

func rightDate(v layouts.Invoice, c model.Candidate) bool { return v.Date == c.Key }

func rightDueDate(v layouts.Invoice, c model.Candidate) bool { return v.DueDate == c.Key }

func rightNumber(v layouts.Invoice, c model.Candidate) bool { return page.Key(v.Number) == c.Key }

// rightSums reports whether sums are those of an invoice. One that states no net or tax may be read as free of it.
func rightSums(v layouts.Invoice, c model.Candidate) bool {
	return rightNet(v, c) && rightTax(v, c) && rightGross(v, c)
}

func rightNet(v layouts.Invoice, c model.Candidate) bool {
	net, gross := sumOf(c, 0), sumOf(c, 2)
	return v.HasNet && net == minor(v.Net) || !v.HasNet && (net == "-" || net == gross)
}

func rightTax(v layouts.Invoice, c model.Candidate) bool {
	tax := sumOf(c, 1)
	return v.HasTax && tax == minor(v.Tax) || !v.HasTax && (tax == "-" || tax == "0")
}

func rightGross(v layouts.Invoice, c model.Candidate) bool { return sumOf(c, 2) == minor(v.Gross) }

// sumOf is one of the three sums of a candidate for page.Sums.
func sumOf(c model.Candidate, i int) string { return strings.Fields(c.Key)[i] }

// minor is a sum of minor units as candidates for page.Sums write it.
func minor(v int64) string { return strconv.FormatInt(max(v, -v)*page.PerMinor, 10) }

// parts are what page.Sums decides on at once; each has a confidence of its own.
func parts() []lesson {
	return []lesson{{field: fields.Net, right: rightNet}, {field: fields.Tax, right: rightTax}, {field: fields.Gross, right: rightGross}}
}

func rightName(v layouts.Invoice, c model.Candidate) bool {
	return sameName(page.Key(v.Supplier), c.Key)
}

// sameName takes a name for the same when one contains the other and is at least half as long.
func sameName(a, b string) bool {
	short, long := min(len(a), len(b)), max(len(a), len(b))
	return short >= 4 && short*2 >= long && (strings.Contains(a, b) || strings.Contains(b, a))
}

func train(samples, letters string, families int) (model.Model, error) {
	reader, err := page.NewReader()
	if err != nil {
		return nil, err
	}
	seen, err := draw(0, families, false)
	if err != nil {
		return nil, err
	}
	pages, err := sampled(samples)
	if err != nil {
		return nil, err
	}
	seen = append(seen, pages...)
	sent, err := madeByHand(letters)
	if err != nil {
		return nil, err
	}
	others, err := draw(held, families/4, true)
	if err != nil {
		return nil, err
	}
	m := model.Model{}
	for _, round := range lessons() {
		c := class{reader, maps.Clone(m), seen, others, sent, considered(reader.With(m), seen), considered(reader.With(m), others)}
		learnt := make([]model.Field, len(round))
		var work sync.WaitGroup
		for i, l := range round {
			work.Go(func() { learnt[i] = c.learn(l) })
		}
		work.Wait()
		for i, l := range round {
			m[l.field] = learnt[i]
			if l.field == page.Sums {
				c.partsOf(m, learnt[i], l)
			}
			fmt.Fprintf(os.Stderr, "%s: %d weights\n", l.field, len(learnt[i].Weights))
		}
	}
	return m, nil
}

// class is what a round of lessons learns from: invoices, and others that judge what was learnt, as a reader with the weights of the rounds
// before considers them.
type class struct {
	reader           *page.Reader
	known            model.Model
	seen, others     []drawn
	letters          []drawn // by people, which judge names alone
	read, othersRead []map[string][]model.Candidate
}

// learn learns the weights of a lesson, and how sure they are.
func (c *class) learn(l lesson) model.Field {
	examples, from := l.examples(c.seen, c.read)
	f := model.Train(examples, l.shrink)
	held, heldFrom := l.examples(c.others, c.othersRead)
	judges := append(c.crossed(l, examples, from), c.judged(l, f, held, heldFrom))
	if l.ruled {
		judges = append(judges, c.stated(l, f, c.letters))
	}
	f.Calibrate(judges...)
	return f
}

// partsOf calibrates the parts of sums.
func (c *class) partsOf(m model.Model, sums model.Field, l lesson) {
	for i, part := range parts() {
		field := part.field
		part.field, part.learns = page.Sums, l.learns
		examples, _ := part.examples(c.others, c.othersRead)
		m[field] = sums.Part(examples, func(key string) string { return strings.Trim(strings.Fields(key)[i], "-") })
	}
}

// considered reads invoices: the candidates of each by field.
func considered(reader *page.Reader, from []drawn) []map[string][]model.Candidate {
	out := make([]map[string][]model.Candidate, len(from))
	var next atomic.Int64
	var work sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		work.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(from); i = int(next.Add(1)) - 1 {
				out[i] = reader.Considered(from[i].doc, from[i].own)
			}
		})
	}
	work.Wait()
	return out
}

// examples are what a lesson learns from, with the invoice of each.
func (l lesson) examples(all []drawn, read []map[string][]model.Candidate) (out []model.Example, from []drawn) {
	for i, d := range all {
		if !slices.Contains(l.learns, d.source) {
			continue
		}
		e := model.Example{Candidates: read[i][l.field], Worth: 1}
		if d.byPeople() {
			e.Worth = l.worth
		}
		for _, c := range e.Candidates {
			e.Right = append(e.Right, l.right(d.Invoice, c) || d.goesBy(c))
		}
		out, from = append(out, e), append(from, d)
	}
	return out, from
}

// goesBy reports whether a candidate is another name that the supplier goes by.
func (d drawn) goesBy(c model.Candidate) bool {
	return slices.ContainsFunc(d.also, func(name string) bool { return sameName(page.Key(name), c.Key) })
}

// byPeople reports whether an invoice wasn't drawn.
func (d drawn) byPeople() bool { return d.source >= typedPages }
