package reader

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
)

// Beside a steady stream of changes no budget stays as it was, but nearly all parts of sums do: a part never changes, a batch adds one,
// and a merge carries what was in some of them into another. So what a project has in a part is read once, and a budget that is made
// anew reads the parts that have come since (docs/performance.md#reads). What all parts have of one key is added up here.

// sumsOfPart is what a project has in a part of sums, or in all of them. It doesn't change once it is kept.
type sumsOfPart struct {
	budget    []analytics.BudgetSum
	records   []analytics.RecordSum
	claims    []analytics.ClaimSum
	contracts []contractSum

	cash       []analytics.CashSum
	recognized []analytics.RecognizedSum

	size int // in bytes, about
}

// contractSum is a line of a contract or what is pending of it, and how many of them there are: a part may hold one that another part
// takes back.
type contractSum struct {
	analytics.ContractSum
	count analytics.Int128
}

// rowSize is about what a row of sums takes beside its texts, in bytes.
const rowSize = 128

// knownParts says which parts of sums a statement leaves out, if it reads them one by one.
type knownParts struct {
	byPart bool
	names  []string
}

// activeBranch says which parts sums consists of.
const activeBranch = `'` + partActive + `', _part, '', '', toInt64(0), ''
FROM (SELECT _part, count() FROM sums GROUP BY _part)`

// byPartSettings are budgetSettings of a statement by part: what parts know of themselves says which there are.
var byPartSettings = clickhouse.Settings{"max_threads": 1, "max_block_size": 8192, "optimize_move_to_prewhere": 0,
	"enable_shared_storage_snapshot_in_query": 1, "optimize_use_implicit_projections": 1}

// budgetStatement reads a project's sums, but for what is known.
type budgetStatement struct {
	query func(tenant, project string, known budgetKnown) Query
	reads string // tells what it reads apart from what others read of the same project
}

// Bounds in bytes: of the sums that are kept by part, and of what is read at once of a project of which nothing is kept yet, for one
// request at a time.
const (
	maxKeptSums   = 64 << 20
	maxFilledSums = 16 << 20
	partOverhead  = 200 // of a part, beside its sums, and of a project
)

// sumsKey names what is read of a project's sums.
type sumsKey struct{ tenant, project, reads string }

// keptSums is what a project has in parts of sums, by the part's name and content. It doesn't change once it is kept.
type keptSums struct {
	of       map[string]*sumsOfPart
	added    addedSums
	tooLarge bool // to be read by part
}

// addedSums is what was added up here of some parts.
type addedSums struct {
	of         []*sumsOfPart
	contracts  []analytics.Contract
	recognized []analytics.RecognizedSum
}

// Inputs names what a project's budget or cash flow was computed from. The zero value names nothing.
type Inputs [sha256.Size]byte

// ErrUnchanged says that what is asked for follows from the same inputs as what the caller has.
var ErrUnchanged = errors.New("nothing has changed")

// readSums reads the sums of a project, by part where that is possible.
func (r *Reader) readSums(ctx context.Context, request BudgetRequest, rows *budgetRows, known budgetKnown,
	statement budgetStatement) error {
	done, err := r.readByPart(ctx, request, rows, known, statement)
	if done || err != nil {
		return err
	}
	return rows.readWhole(ctx, r, statement.query(request.Tenant, request.Project.ID, known))
}

// readByPart reads the parts of sums of which nothing is kept, and gathers all of them. It isn't done where parts can't be listed, or
// are too large one by one.
func (r *Reader) readByPart(ctx context.Context, request BudgetRequest, rows *budgetRows, known budgetKnown,
	statement budgetStatement) (done bool, err error) {
	key := sumsKey{request.Tenant, request.Project.ID, statement.reads}
	kept, _ := r.sums.get("", key)
	if request.At.sums == "" || kept.tooLarge {
		return false, nil
	}
	settings := byPartSettings
	if len(kept.of) == 0 {
		if !r.filling.TryLock() {
			return false, nil
		}
		defer r.filling.Unlock()
		settings = within(settings, maxFilledSums)
	}
	contents := request.At.sums.byName()
	known.parts = knownParts{byPart: true, names: kept.among(contents)}
	read := *rows
	err = read.read(ctx, r, statement.query(key.tenant, key.project, known), settings)
	if errors.Is(err, ErrTooLarge) {
		r.sums.put("", key, keptSums{tooLarge: len(kept.of) == 0}, partOverhead) // else it is read anew as a whole
		return false, nil
	}
	if err != nil {
		return false, err
	}
	now, some, from := kept.with(&read, contents)
	if from != nil {
		read.inputs = inputsOf(request, statement, from)
	}
	if unchanged := from != nil && read.inputs == request.Has; unchanged {
		err, now.added = ErrUnchanged, kept.added
	} else {
		now.added, err = read.gather(some, kept.added)
	}
	r.sums.put("", key, now, now.size())
	*rows = read
	return true, err
}

// byName are the contents of a table's parts by their names.
func (t tableParts) byName() map[string]string {
	contents := make(map[string]string)
	for part := range strings.SplitSeq(string(t), "\n") {
		name, _, _ := strings.Cut(part, " ")
		contents[name] = part
	}
	return contents
}

// among are the names of the parts that are kept.
func (k *keptSums) among(contents map[string]string) (names []string) {
	for name, content := range contents {
		if k.of[content] != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// with are the parts that were active when others were read. Some are those in which the project has something, from their contents: nil
// if one of them came when the parts had been listed, so that its content isn't known.
func (k *keptSums) with(read *budgetRows, contents map[string]string) (now keptSums, some []*sumsOfPart, from []string) {
	now.of, from = make(map[string]*sumsOfPart, len(contents)), []string{}
	slices.Sort(read.active)
	for _, name := range read.active {
		content, listed := contents[name]
		sums := read.sums[name]
		if sums == nil && listed {
			sums = k.of[content]
		}
		if sums == nil {
			sums = new(sumsOfPart)
		}
		if listed {
			now.of[content] = sums
		}
		if sums.size == 0 {
			continue
		}
		some = append(some, sums)
		if from != nil && listed {
			from = append(from, content)
		} else {
			from = nil
		}
	}
	return now, some, from
}

// size is about what is kept, in bytes.
func (k *keptSums) size() int {
	size := partOverhead + rowSize*(len(k.added.contracts)+len(k.added.recognized))
	for _, p := range k.of {
		size += partOverhead + p.size
	}
	for i := range k.added.contracts {
		size += rowSize * len(k.added.contracts[i].Allocations)
	}
	return size
}

// inputsOf names what was read of these parts, and beside them.
func inputsOf(request BudgetRequest, statement budgetStatement, parts []string) Inputs {
	at := &request.At
	return sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q", at.nodes, at.entries, at.plans, statement.reads, parts))
}

// readWhole reads the sums of all parts together, and gathers them.
func (b *budgetRows) readWhole(ctx context.Context, r *Reader, q Query) error {
	if err := b.read(ctx, r, q, budgetSettings); err != nil {
		return err
	}
	return b.gatherAll()
}

// gatherAll gathers what was read of all parts together.
func (b *budgetRows) gatherAll() error {
	_, err := b.gather(slices.Collect(maps.Values(b.sums)), addedSums{})
	return err
}

// gather takes over what the parts have. What has the same key it adds up where the computation doesn't, or knows from before, if it was
// of the same parts.
func (b *budgetRows) gather(parts []*sumsOfPart, before addedSums) (added addedSums, err error) {
	in := &b.input
	in.Budget = joined(of(parts, func(p *sumsOfPart) []analytics.BudgetSum { return p.budget }))
	in.Claims = joined(of(parts, func(p *sumsOfPart) []analytics.ClaimSum { return p.claims }))
	in.Records = of(parts, func(p *sumsOfPart) []analytics.RecordSum { return p.records })
	b.cash = joined(of(parts, func(p *sumsOfPart) []analytics.CashSum { return p.cash }))
	if len(parts) > 0 && slices.Equal(parts, before.of) {
		added = before
	} else if added, err = addUp(parts); err != nil {
		return addedSums{}, err
	}
	in.Contracts, b.recognized = added.contracts, added.recognized
	return added, nil
}

// addUp adds up what the computation wants once for each key: contracts and recognized records.
func addUp(parts []*sumsOfPart) (added addedSums, err error) {
	added.of = parts
	if len(parts) == 1 {
		added.recognized = parts[0].recognized
	} else {
		added.recognized = addedUp(of(parts, func(p *sumsOfPart) []analytics.RecognizedSum { return p.recognized }),
			func(s *analytics.RecognizedSum) recognizedKey { return recognizedKey{s.NodeID, s.Month} },
			func(to, s *analytics.RecognizedSum) { to.Count += s.Count })
	}
	var left []analytics.ContractSum
	for _, sum := range addedUp(of(parts, func(p *sumsOfPart) []contractSum { return p.contracts }), (*contractSum).key, (*contractSum).add) {
		if !sum.count.IsZero() || !sum.Pending.IsZero() { // else nothing is left of it
			left = append(left, sum.ContractSum)
		}
	}
	added.contracts, err = analytics.ContractsOf(left)
	return added, err
}

// of are the lists that the parts have of something.
func of[T any](parts []*sumsOfPart, list func(p *sumsOfPart) []T) [][]T {
	lists := make([][]T, len(parts))
	for i, p := range parts {
		lists[i] = list(p)
	}
	return lists
}

// joined is one list after another. A single one is not copied, so nobody may change it.
func joined[T any](lists [][]T) []T {
	if len(lists) == 1 {
		return lists[0]
	}
	return slices.Concat(lists...)
}

type recognizedKey struct {
	node  analytics.NodeID
	month calendar.Month
}

// key is a sum without its amounts.
func (s *contractSum) key() analytics.ContractSum {
	key := s.ContractSum
	key.Base, key.Committed, key.Pending = analytics.Int128{}, analytics.Int128{}, analytics.Int128{}
	return key
}

func (s *contractSum) add(more *contractSum) {
	s.Base, s.Committed = s.Base.Add(more.Base), s.Committed.Add(more.Committed)
	s.Pending, s.count = s.Pending.Add(more.Pending), s.count.Add(more.count)
}

// addedUp are the values of lists, those of one key added up: a part may hold several of one, until it is merged.
func addedUp[K comparable, V any](lists [][]V, key func(v *V) K, add func(to, v *V)) []V {
	var all []V
	places := make(map[K]int)
	for _, list := range lists {
		for i := range list {
			k := key(&list[i])
			at, known := places[k]
			if !known {
				places[k] = len(all)
				all = append(all, list[i])
				continue
			}
			add(&all[at], &list[i])
		}
	}
	return all
}

// takeSums takes all rows of sums.
func (p *sumsOfPart) takeSums(rows rowBinary) error {
	var row budgetRow
	p.size += len(rows.left)
	for rows.left != "" {
		size := len(rows.left)
		if err := row.takeKeys(&rows); err != nil {
			return err
		}
		if err := rows.int128s(&row.value, &row.gross, &row.pending, &row.count); err != nil {
			return err
		}
		p.size += rowSize
		if err := p.take(&row, rows.behind(size)); err != nil {
			return err
		}
	}
	return nil
}

var errCount = errors.New("a sum of counts is out of range")

// take takes a row, behind which there are about so many more.
func (p *sumsOfPart) take(row *budgetRow, behind int) error {
	node := analytics.NodeID(row.node)
	switch row.roll {
	case rollBudget, rollTransfers:
		p.budget = append(p.budget, analytics.BudgetSum{NodeID: node, Currency: row.currency, Amount: row.value})
	case rollLines:
		sum, err := row.recordSum()
		if err != nil {
			return err
		}
		if sum.Count != 0 || !sum.Net.IsZero() || !sum.Gross.IsZero() {
			p.records = append(roomFor(p.records, 1+behind), sum)
		}
	case rollContracts:
		p.contracts = append(p.contracts, contractSum{analytics.ContractSum{
			ContractID: analytics.ContractID(row.contract), Line: row.line, NodeID: node, Currency: row.currency, Status: row.status,
			Base: row.value, Committed: row.gross, Pending: row.pending,
		}, row.count})
	case rollClaims:
		p.claims = append(p.claims, analytics.ClaimSum{NodeID: node, Currency: row.currency, Pending: row.pending})
	}
	return nil
}

// roomFor makes room for so many more at once: there are thousands, and to double what is there copies them several times.
func roomFor[T any](sums []T, most int) []T {
	if len(sums) == cap(sums) {
		sums = slices.Grow(sums, max(1, most))
	}
	return sums
}

// recordSum makes the sum of records of a row of lines.
func (row *budgetRow) recordSum() (analytics.RecordSum, error) {
	count, ok := row.count.Int64()
	if !ok {
		return analytics.RecordSum{}, errCount
	}
	return analytics.RecordSum{
		NodeID: analytics.NodeID(row.node), ContractID: analytics.ContractID(row.contract), Currency: row.currency,
		Status: analytics.RecordStatus(row.status), Net: row.value, Gross: row.gross, Count: count,
	}, nil
}
