package demo

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"tallyhouse/schemas/events"
)

func TestEqualOptionsGiveEqualBytes(t *testing.T) {
	// The bytes are the same on every machine and with every Go release; the hash changes only with the data or the
	// encoding of events.
	const golden = "7820cd8791bb52c2919e87797b67f2ba87bebc7bb63951313f62f143a74eebc0"
	small := Options{Projects: 2, Records: 300, Seed: 7}
	var first, second bytes.Buffer
	if err := errors.Join(Write(&first, small), Write(&second, small)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Fatal("two runs differ")
	}
	sum := sha256.Sum256(first.Bytes())
	if got := hex.EncodeToString(sum[:]); got != golden {
		t.Errorf("the SHA-256 is %s, want %s", got, golden)
	}

	other := small
	other.Seed = 8
	second.Reset()
	if err := Write(&second, other); err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("another seed gives the same bytes")
	}
}

func TestTheVersionsOfARecordFollowEachOther(t *testing.T) {
	t.Parallel()
	after := map[string]int{"setup": 0, "approval": 1, "payment": 2, "paid": 3, "rejected": 3}
	for seed := range uint64(2) {
		numbers := map[[2]string]string{}
		versions := [7]int{}
		c := readDemo(t, Options{Records: 20_000, Seed: seed}, func(topic events.Topic, before, now events.Event) {
			if now.Version != before.Version+1 || now.At.Before(before.At) || before.Op == events.Delete {
				t.Fatalf("%s %s: version %d at %s follows version %d at %s", topic, now.ID, now.Version, now.At,
					before.Version, before.At)
			}
			if !now.At.Before(Now()) {
				t.Fatalf("%s %s changes at %s, after the end of the data", topic, now.ID, now.At)
			}
			if topic != events.Records {
				return
			}
			versions[now.Version]++
			r, ok := now.Data.(*events.Record)
			if !ok { // a delete
				return
			}
			if b, ok := before.Data.(*events.Record); ok {
				if after[r.StepKind] < after[b.StepKind] || r.ProjectID != b.ProjectID ||
					r.Intake.Channel != b.Intake.Channel || r.Intake.ReceivedAt != b.Intake.ReceivedAt {
					t.Fatalf("record %s: %+v follows %+v", now.ID, r, b)
				}
			}
			if r.Net.Ok && r.Gross.V != r.Net.V+r.Tax.V {
				t.Fatalf("record %s: gross %d is not net %d and tax %d", now.ID, r.Gross.V, r.Net.V, r.Tax.V)
			}
			if sum := allocated(r); len(r.Allocations) > 0 && sum != r.Net.V {
				t.Fatalf("record %s: its lines add up to %d, not to %d", now.ID, sum, r.Net.V)
			}
			checkDates(t, now, r)
			if number := [2]string{r.ContractorID.V, r.InvoiceNumber.V}; r.ContractorID.Ok && r.InvoiceNumber.Ok {
				if other := numbers[number]; other != "" && other != now.ID {
					t.Fatalf("records %s and %s of one contractor have one number %s", other, now.ID, number[1])
				}
				numbers[number] = now.ID
			}
		})
		if n := len(c.heads[events.Records]); n != 20_000 {
			t.Errorf("seed %d: %d records", seed, n)
		}
		if versions[6] > 0 {
			t.Errorf("seed %d: records with more than five versions", seed)
		}
		for v := 2; v <= 5; v++ {
			if versions[v] == versions[v-1] || versions[v] == 0 {
				t.Errorf("seed %d: no record ends with version %d: %v", seed, v-1, versions)
			}
		}
		checkReferences(t, c)
	}
}

func allocated(r *events.Record) (sum int64) {
	for _, a := range r.Allocations {
		sum += a.Net.V
	}
	return sum
}

// checkDates: recognition, due date and payment follow each other, and what came in came in after the invoice was
// written.
func checkDates(t *testing.T, e events.Event, r *events.Record) {
	t.Helper()
	if !r.RecognitionDate.Ok {
		return
	}
	if received := r.Intake.ReceivedAt.V; received.Before(r.RecognitionDate.V.Time()) || received.After(e.At) {
		t.Fatalf("record %s of %s came in at %s, in an event of %s", e.ID, r.RecognitionDate.V, received, e.At)
	}
	if r.DueDate.Ok && r.DueDate.V < r.RecognitionDate.V {
		t.Fatalf("record %s of %s is due on %s", e.ID, r.RecognitionDate.V, r.DueDate.V)
	}
	if r.PaidAt.Ok == r.CashDate.Ok && r.StepKind == "paid" || (r.PaidAt.Ok || r.CashDate.Ok) && r.StepKind != "paid" {
		t.Fatalf("record %s in %s: paid at %v, on %v", e.ID, r.StepKind, r.PaidAt, r.CashDate)
	}
	if r.PaidAt.Ok && (r.PaidAt.V.Before(r.DueDate.V.Time()) || r.PaidAt.V != e.At) ||
		r.CashDate.Ok && r.CashDate.V < r.DueDate.V {
		t.Fatalf("record %s, due on %s, is paid at %v, on %v, in an event of %s", e.ID, r.DueDate.V, r.PaidAt.V, r.CashDate, e.At)
	}
}

// checkReferences: whatever is named exists, under the same project.
func checkReferences(t *testing.T, c *company) {
	t.Helper()
	projects, nodes := live[events.Project](c, events.Projects), live[events.BudgetNode](c, events.BudgetNodes)
	contractors, contracts := live[events.Contractor](c, events.Contractors), live[events.Contract](c, events.Contracts)
	users := live[events.User](c, events.Users)
	node := func(who, projectID, id string) {
		t.Helper()
		n, p := nodes[id], projects[projectID]
		if p == nil || n == nil || n.ProjectID.Ok && n.ProjectID.V != projectID ||
			n.StructureID.Ok && n.StructureID != p.BudgetStructureID {
			t.Fatalf("%s: node %s is not of project %s", who, id, projectID)
		}
	}
	for id, r := range live[events.Record](c, events.Records) {
		for _, a := range r.Allocations {
			node(id, r.ProjectID, a.NodeID.V)
		}
		if r.ContractorID.Ok && contractors[r.ContractorID.V] == nil || projects[r.ProjectID] == nil {
			t.Fatalf("record %s names contractor %s, project %s", id, r.ContractorID.V, r.ProjectID)
		}
		k := contracts[r.ContractID.V]
		if r.ContractID.Ok && (k == nil || k.ProjectID != r.ProjectID || k.ContractorID != r.ContractorID ||
			k.Currency != r.Currency.V) {
			t.Fatalf("record %s of contractor %s in project %s is linked with contract %s: %+v", id, r.ContractorID.V,
				r.ProjectID, r.ContractID.V, k)
		}
	}
	for id, k := range contracts {
		if contractors[k.ContractorID.V] == nil {
			t.Fatalf("contract %s names contractor %s", id, k.ContractorID.V)
		}
		for _, a := range k.Allocations {
			node(id, k.ProjectID, a.NodeID)
		}
	}
	for id, n := range nodes {
		if n.ParentID.Ok && nodes[n.ParentID.V] == nil {
			t.Fatalf("node %s has the unknown parent %s", id, n.ParentID.V)
		}
	}
	for id, k := range live[events.Claim](c, events.Claims) {
		node(id, k.ProjectID, k.NodeID.V)
		if k.ContractID.Ok && contracts[k.ContractID.V] == nil {
			t.Fatalf("claim %s names contract %s", id, k.ContractID.V)
		}
	}
	for id, p := range live[events.LinePlan](c, events.LinePlans) {
		node(id, p.ProjectID, p.NodeID)
	}
	units, facilities := live[events.Unit](c, events.Units), live[events.Facility](c, events.Facilities)
	for id, l := range live[events.Lease](c, events.Leases) {
		for _, u := range l.UnitIDs {
			if units[u] == nil || units[u].ProjectID != l.ProjectID {
				t.Fatalf("lease %s of project %s lets %s", id, l.ProjectID, u)
			}
		}
	}
	for id, f := range facilities {
		for _, p := range f.ProjectIDs {
			if projects[p] == nil {
				t.Fatalf("facility %s finances %s", id, p)
			}
		}
	}
	drawn := map[string]int64{}
	for id, e := range live[events.FacilityEntry](c, events.FacilityEntries) {
		if facilities[e.FacilityID] == nil {
			t.Fatalf("entry %s is of facility %s", id, e.FacilityID)
		}
		if e.Kind == "drawdown" {
			drawn[e.FacilityID] += e.Value
		}
	}
	for id, sum := range drawn {
		if f := facilities[id]; !f.Revolving && sum > f.Commitment {
			t.Fatalf("facility %s of %d is planned to be drawn for %d", id, f.Commitment, sum)
		}
	}
	for id, f := range live[events.Fixing](c, events.Fixings) {
		if facilities[f.FacilityID] == nil {
			t.Fatalf("fixing %s is of facility %s", id, f.FacilityID)
		}
	}
	for id, m := range live[events.Membership](c, events.Memberships) {
		if users[m.UserID] == nil || m.Scope.ProjectID.Ok && projects[m.Scope.ProjectID.V] == nil {
			t.Fatalf("membership %s: %+v", id, m)
		}
	}
}

func TestRecordsEndAsRealOnesDo(t *testing.T) {
	t.Parallel()
	const records = 20_000
	c := readDemo(t, Options{Records: records, Seed: 3, Topics: []events.Topic{events.Records}}, nil)
	all := live[events.Record](c, events.Records)
	count := map[string]int{"deleted": records - len(all)}
	var nets []int64
	for _, r := range all {
		count[r.StepKind]++
		count[r.Source]++
		if r.Net.V < 0 {
			count["credit"]++
		}
		if r.Currency.Ok && r.Currency.V != "EUR" {
			count["foreign"]++
		}
		if len(r.Allocations) > 1 {
			count["split"]++
		}
		if r.ContractID.Ok {
			count["contract"]++
		}
		if r.CertifiedCodes.Ok {
			count["certified"]++
		}
		if r.Net.V > 0 {
			nets = append(nets, r.Net.V)
			count[rate(r)]++
		}
	}
	for name, want := range map[string]struct{ percent, tolerance float64 }{
		"paid": {70, 1}, "payment": {15, 1}, "approval": {8, 0.8}, "setup": {5, 0.6}, "rejected": {2, 0.4},
		"credit": {3, 0.4}, "accrual": {2, 0.4},
		"deleted": {1, 0.3}, "foreign": {5, 0.6}, "split": {20, 1}, "contract": {40, 10}, "certified": {25, 5},
		"20": {35, 15}, "10": {2, 1.5}, "0": {55, 10},
	} {
		if got := 100 * float64(count[name]) / records; math.Abs(got-want.percent) > want.tolerance {
			t.Errorf("%s: %.2f %%, want %.1f ± %.1f", name, got, want.percent, want.tolerance)
		}
	}
	small, large, total := 0, int64(0), int64(0)
	for _, n := range nets {
		if n < 5_000_00 {
			small++
		}
		large = max(large, n)
		total += n
	}
	if mean := total / int64(len(nets)); small*100/len(nets) < 55 || large < 50*mean {
		t.Errorf("%d %% below 5,000.00, mean %d, largest %d: want many small ones and few very large",
			small*100/len(nets), mean, large)
	}
}

// rate is the tax rate of an invoice in Austria, rounded.
func rate(r *events.Record) string {
	switch tenths := r.Tax.V * 1000 / r.Net.V; {
	case tenths == 0:
		return "0"
	case tenths >= 195 && tenths <= 205:
		return "20"
	case tenths >= 95 && tenths <= 105:
		return "10"
	}
	return "other" // of Germany
}

func TestLinesFollowTimeAndVersionsOfRecordsMix(t *testing.T) {
	t.Parallel()
	for _, records := range []int64{500, 15_000} {
		var last time.Time
		jump, same, lines := time.Duration(0), 0, 0
		readDemo(t, Options{Records: records}, func(_ events.Topic, before, now events.Event) {
			if back := last.Sub(now.At); back > jump {
				jump = back
			}
			if now.Version > 1 && now.At.Equal(before.At) {
				same++
			}
			last = now.At
			lines++
		})
		if jump > 3*24*time.Hour {
			t.Errorf("%d records: a line goes back in time by %s", records, jump)
		}
		if same*100 > lines {
			t.Errorf("%d records: %d of %d versions come at the instant of the one before", records, same, lines)
		}
	}
}

func TestTopicsOnlyFilterTheLines(t *testing.T) {
	t.Parallel()
	write := func(topics ...events.Topic) string {
		var b bytes.Buffer
		if err := Write(&b, Options{Records: 400, Topics: topics}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	all := write()
	for _, topic := range Topics() {
		var want []string
		for l := range strings.Lines(all) {
			if strings.HasPrefix(l, `{"topic":"`+string(topic)+`"`) {
				want = append(want, l)
			}
		}
		if len(want) == 0 {
			t.Errorf("no line of %s", topic)
		}
		if got := write(topic, events.Keys); got != strings.Join(want, "") {
			t.Errorf("%s alone differs from its lines among all", topic)
		}
	}
}

func TestMemoryDoesNotGrowWithTheRecords(t *testing.T) {
	heap := func(records int64) (most uint64) {
		var m runtime.MemStats
		lines := int64(0)
		o := Options{Records: records, Progress: func(p Progress) {
			if p.Lines-lines < records/4 {
				return
			}
			lines = p.Lines
			runtime.GC()
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}}
		if err := Write(io.Discard, o); err != nil {
			t.Fatal(err)
		}
		return most
	}
	few, many := heap(10_000), heap(200_000)
	if many > few+1<<20 { // six bytes a record
		t.Errorf("%d bytes of heap with 10,000 records, %d with 200,000", few, many)
	}
}

func TestTheBeginningOfTenMillionRecords(t *testing.T) {
	t.Parallel()
	// With more than a million records the timing wheel is too small for the true distances between versions.
	stop := errors.New("enough")
	versions := map[string]int64{}
	left, later := 80_000, 0
	err := Write(writerFunc(func(p []byte) (int, error) {
		for l := range bytes.Lines(p) {
			topic, key, value := parts(t, bytes.TrimSuffix(l, []byte("\n")))
			e, err := events.Decode(topic, []byte(key), value)
			if err != nil {
				t.Fatal(err)
			}
			if e.Version != versions[e.ID]+1 {
				t.Fatalf("record %s: version %d follows %d", e.ID, e.Version, versions[e.ID])
			}
			if versions[e.ID] = e.Version; e.Version > 1 {
				later++
			}
			left--
		}
		if left < 0 {
			return 0, stop
		}
		return len(p), nil
	}), Options{Records: 10_000_000, Topics: []events.Topic{events.Records}})
	if !errors.Is(err, stop) {
		t.Fatal(err)
	}
	if later < 30_000 || len(versions) < 20_000 {
		t.Errorf("%d records begun, %d later versions among 80,000 lines", len(versions), later)
	}
}

func TestWriteRefusesWhatItCannotWrite(t *testing.T) {
	for name, o := range map[string]Options{
		"tenant":        {Tenant: "a/b"},
		"projects":      {Projects: -1},
		"records":       {Records: maxRecords + 1},
		"unknown topic": {Topics: []events.Topic{"ledger.recods"}},
		"year":          {Now: time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		var b bytes.Buffer
		err := Write(&b, o)
		var invalid *InvalidOptions
		if !errors.As(err, &invalid) || b.Len() > 0 || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v after %d bytes", name, err, b.Len())
		}
	}
}

func TestWriteReturnsTheErrorOfTheWriter(t *testing.T) {
	full := errors.New("disk full")
	left := 3
	err := Write(writerFunc(func(p []byte) (int, error) {
		if left--; left == 0 {
			return 0, full
		}
		return len(p), nil
	}), Options{})
	if !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	if left < 0 {
		t.Error("went on writing after the failure")
	}
}

func TestASingleRecordOfASingleProject(t *testing.T) {
	c := readDemo(t, Options{Projects: 1, Records: 1, Tenant: `ä"<b>`}, nil)
	if len(c.heads[events.Records]) != 1 || len(c.heads[events.Projects]) != 1 {
		t.Errorf("%d records, %d projects", len(c.heads[events.Records]), len(c.heads[events.Projects]))
	}
}
