package analytics_test

import (
	"math/big"
	"slices"
	"sort"
	"strings"

	"tallyhouse/schemas/events"
)

// The rules of the calculations once more, in the plainest way: no sums, no
// passes, every figure straight from the single bookings. A booking adds itself
// to its seat and to everything above; figures per line are recursive.

type naive struct {
	*ledger
	project string
}

func (n naive) currency() string { return n.projects[n.project].Currency }

func (n naive) member(id string) bool {
	node, ok := n.nodes[id]
	if !ok {
		return false
	}
	if node.ProjectID.Ok {
		return node.ProjectID.V == n.project
	}
	structure := n.projects[n.project].BudgetStructureID
	return node.StructureID.Ok && structure.Ok && node.StructureID.V == structure.V
}

// path lists the node and its ancestors up to the top; broken when the way ends
// at a missing parent or comes back to where it was.
func (n naive) path(id string) (path []string, broken bool) {
	for {
		if !n.member(id) || slices.Contains(path, id) {
			return path, true
		}
		path = append(path, id)
		if !n.nodes[id].ParentID.Ok {
			return path, false
		}
		id = n.nodes[id].ParentID.V
	}
}

func (n naive) effective(id string) bool {
	path, broken := n.path(id)
	return !broken && !slices.ContainsFunc(path, func(p string) bool { return !n.nodes[p].Active })
}

func (n naive) seat(id string) string {
	path, _ := n.path(id)
	for _, p := range path {
		if n.effective(p) {
			return p
		}
	}
	return ""
}

func (n naive) children(id string) []string {
	var children []string
	for c, node := range n.nodes {
		if n.effective(c) && node.ParentID.Ok && node.ParentID.V == id {
			children = append(children, c)
		}
	}
	return children
}

// order sorts the effective nodes by the codes and ids on their way from the top.
func (n naive) order() []string {
	var ids []string
	keys := map[string]string{}
	for id := range n.nodes {
		if !n.effective(id) {
			continue
		}
		ids = append(ids, id)
		path, _ := n.path(id)
		for _, p := range path {
			keys[id] = n.nodes[p].Code + "\x01" + p + "\x00" + keys[id]
		}
	}
	sort.Slice(ids, func(i, j int) bool { return keys[ids[i]] < keys[ids[j]] })
	return ids
}

// figures of a line by name, own or total; "" collects what has no seat.
type figures map[string]map[string]*big.Int

func (f figures) add(at, name string, v *big.Int) {
	if f[at] == nil {
		f[at] = map[string]*big.Int{}
	}
	if f[at][name] == nil {
		f[at][name] = new(big.Int)
	}
	f[at][name].Add(f[at][name], v)
}

func (f figures) get(at, name string) *big.Int {
	if v := f[at][name]; v != nil {
		return v
	}
	return new(big.Int)
}

func positive(v *big.Int) *big.Int {
	if v.Sign() < 0 {
		return new(big.Int)
	}
	return v
}

func minus(a, b *big.Int) *big.Int { return new(big.Int).Sub(a, b) }
func plus(a, b *big.Int) *big.Int  { return new(big.Int).Add(a, b) }

func counting(r *events.Record) bool {
	return r.Source != "accrual" && r.StepKind != "rejected" && r.Net.Ok
}

// own books every single amount on its seat.
func (n naive) own() figures {
	own := figures{}
	book := func(node, name string, v *big.Int) { own.add(n.seat(node), name, v) }
	for _, r := range n.rows {
		if r.ProjectID == n.project && r.Status == "approved" && r.Amount.Currency == n.currency() {
			book(r.NodeID.V, "budget", big.NewInt(r.Amount.Value))
		}
	}
	for _, tr := range n.transfers {
		if tr.ProjectID == n.project && tr.Status == "approved" && tr.Amount.Currency == n.currency() {
			book(tr.FromNodeID.V, "budget", big.NewInt(-tr.Amount.Value))
			book(tr.ToNodeID.V, "budget", big.NewInt(tr.Amount.Value))
		}
	}
	statuses := map[string]string{"setup": "setup", "approval": "approvalPending", "payment": "paymentPending",
		"paid": "paid"}
	for _, r := range n.records {
		if r.ProjectID != n.project || !counting(r) || r.Currency.V != n.currency() {
			continue
		}
		allocations := r.Allocations
		if len(allocations) == 0 {
			allocations = []events.RecordAllocation{{Net: r.Net}}
		}
		for i, gross := range grossShares(r, allocations) {
			node, net := allocations[i].NodeID.V, big.NewInt(allocations[i].Net.V)
			book(node, "invoiced", net)
			book(node, "status "+statuses[r.StepKind], net)
			book(node, "invoicedGross", gross)
			if r.StepKind == "paid" {
				book(node, "paidGross", gross)
			}
		}
	}
	for _, c := range n.claims {
		if c.ProjectID == n.project && c.Amount.Currency == n.currency() {
			book(c.NodeID.V, "pendingChanges", naiveClaim(c))
		}
	}
	for id, c := range n.contracts {
		if c.ProjectID != n.project || c.Currency != n.currency() || c.Status != "signed" && c.Status != "completed" {
			continue
		}
		for _, line := range n.lines(id) {
			rest := minus(line.committed, line.invoiced)
			book(line.node, "committed", line.committed)
			book(line.node, "openCommitment", positive(rest))
			book(line.node, "overInvoiced", positive(new(big.Int).Neg(rest)))
		}
		for _, a := range c.Amendments {
			if a.Status == "pending" {
				book(a.NodeID.V, "pendingChanges", positive(big.NewInt(a.Value)))
			}
		}
	}
	return own
}

// totals adds every own amount to all lines above as well.
func (n naive) totals(own figures) figures {
	totals := figures{}
	for at, byName := range own {
		path, _ := n.path(at)
		for name, v := range byName {
			for _, p := range path {
				totals.add(p, name, v)
			}
		}
	}
	return totals
}

type naiveLine struct {
	node                      string
	base, committed, invoiced *big.Int
}

func (n naive) lines(contract string) []*naiveLine {
	c := n.contracts[contract]
	var lines []*naiveLine
	on := func(node string) *naiveLine {
		for _, l := range lines {
			if l.node == node {
				return l
			}
		}
		l := &naiveLine{node: node, base: new(big.Int), committed: new(big.Int), invoiced: new(big.Int)}
		lines = append(lines, l)
		return l
	}
	for _, a := range c.Allocations {
		l := on(a.NodeID)
		l.base = plus(l.base, big.NewInt(a.Value))
		l.committed = plus(l.committed, big.NewInt(a.Value))
	}
	if len(lines) == 0 {
		return nil
	}
	for _, a := range naiveAmendments(c) {
		if a.Status == "approved" {
			l := on(a.NodeID.V)
			l.committed = plus(l.committed, big.NewInt(a.Value))
		}
	}
	pool := new(big.Int)
	for _, r := range n.linkedRecords(contract) {
		allocations := r.Allocations
		if len(allocations) == 0 {
			allocations = []events.RecordAllocation{{Net: r.Net}}
		}
		for _, a := range allocations {
			net := big.NewInt(a.Net.V)
			if l := n.lineAbove(lines, a.NodeID); l != nil {
				l.invoiced = plus(l.invoiced, net)
			} else {
				pool.Add(pool, net)
			}
		}
	}
	spreadPool(pool, lines)
	return lines
}

func spreadPool(pool *big.Int, lines []*naiveLine) {
	weigh := func(of func(*naiveLine) *big.Int) (weights []int64, any bool) {
		for _, l := range lines {
			weights = append(weights, positive(of(l)).Int64())
			any = any || of(l).Sign() > 0
		}
		return weights, any
	}
	weights, ok := weigh(func(l *naiveLine) *big.Int { return l.committed })
	if !ok {
		weights, ok = weigh(func(l *naiveLine) *big.Int { return l.base })
	}
	if !ok {
		weights = make([]int64, len(lines))
		weights[0] = 1
	}
	for i, share := range naiveShares(pool.Int64(), weights) {
		lines[i].invoiced = plus(lines[i].invoiced, share)
	}
}

func (n naive) lineAbove(lines []*naiveLine, coded events.Opt[string]) *naiveLine {
	if !coded.Ok {
		return nil
	}
	path, _ := n.path(coded.V)
	for _, p := range append([]string{coded.V}, path...) {
		for _, l := range lines {
			if l.node == p {
				return l
			}
		}
	}
	return nil
}

// linkedRecords are those that count on the contract, in its currency.
func (n naive) linkedRecords(contract string) []*events.Record {
	c := n.contracts[contract]
	var linked []*events.Record
	for _, r := range n.records {
		if r.ContractID.V == contract && r.ProjectID == c.ProjectID && counting(r) && r.Currency.V == c.Currency {
			linked = append(linked, r)
		}
	}
	return linked
}

func naiveAmendments(c *events.Contract) []events.Amendment {
	sorted := slices.Clone(c.Amendments)
	key := func(a events.Amendment) string {
		if !a.Date.Ok {
			return "9999-99-99 " + a.ID
		}
		return a.Date.V.String() + " " + a.ID
	}
	sort.Slice(sorted, func(i, j int) bool { return key(sorted[i]) < key(sorted[j]) })
	return sorted
}

// entry is the value entered on a line: of several, that of the greatest id.
func (n naive) entry(node string) *big.Int {
	greatest := ""
	for id, e := range n.entries {
		if e.ProjectID == n.project && e.NodeID == node && e.Amount.Ok && e.Amount.V.Currency == n.currency() &&
			id > greatest {
			greatest = id
		}
	}
	if greatest == "" {
		return nil
	}
	return big.NewInt(n.entries[greatest].Amount.V.Value)
}

// uncommitted is the recursion of docs/calculations.md#uncommitted, asked anew for every line.
func (n naive) uncommitted(id string, own, totals figures) (u, d *big.Int, defaulted bool) {
	below, needs, rest, defaulted := new(big.Int), new(big.Int), new(big.Int), true
	for _, c := range n.children(id) {
		cu, cd, cdef := n.uncommitted(c, own, totals)
		below = plus(below, cd)
		rest = plus(rest, minus(cu, cd))
		needs = plus(needs, positive(minus(plus(totals.get(c, "committed"), cu), totals.get(c, "budget"))))
		defaulted = defaulted && cdef
	}
	if e := n.entry(id); e != nil {
		return e, new(big.Int), false
	}
	free := minus(own.get(id, "budget"), own.get(id, "committed"))
	if free.Sign() >= 0 {
		d = plus(below, positive(minus(free, needs)))
	} else {
		d = positive(plus(below, free))
	}
	return plus(rest, d), d, defaulted
}

func (n naive) codes(id string) []any {
	path, _ := n.path(id)
	rank := map[string]string{"yardi": "1", "datev": "2", "sap": "3", "bmd": "4", "other": "5"}
	found := map[string]object{}
	var systems []string
	for i, p := range path {
		for _, c := range n.nodes[p].AccountingCodes {
			if found[c.System] == nil {
				found[c.System] = object{"system": c.System, "code": c.Code, "name": text(c.Name), "taxKey": text(c.TaxKey),
					"inherited": i > 0}
				systems = append(systems, c.System)
			}
		}
	}
	sort.Slice(systems, func(i, j int) bool {
		key := func(s string) string {
			if r, ok := rank[s]; ok {
				return r
			}
			return "9" + s
		}
		return key(systems[i]) < key(systems[j])
	})
	codes := []any{}
	for _, s := range systems {
		codes = append(codes, found[s])
	}
	return codes
}

// budget is the whole answer of getProjectBudget.
func (n naive) budget(level string) any {
	own := n.own()
	totals := n.totals(own)
	amount := func(v *big.Int) any { return object{"value": v, "currency": n.currency()} }
	nodes := []any{}
	for _, id := range n.order() {
		if !n.shown(id, level) {
			continue
		}
		node := n.nodes[id]
		get := func(name string) *big.Int { return totals.get(id, name) }
		u, _, defaulted := n.uncommitted(id, own, totals)
		eac := plus(plus(get("committed"), get("pendingChanges")), u)
		shown := object{
			"nodeId": id, "level": node.Level, "code": node.Code, "name": node.Name, "parentId": text(node.ParentID),
			"projectSpecific": node.ProjectID.Ok, "accountingCodes": n.codes(id), "uncommittedDefaulted": defaulted,
			"uncommitted": amount(u), "eac": amount(eac), "variance": amount(minus(get("budget"), eac)),
			"costToComplete": amount(minus(eac, get("invoiced"))), "paid": amount(get("status paid")),
			"invoicedByStatus": object{
				"setup": amount(get("status setup")), "approvalPending": amount(get("status approvalPending")),
				"paymentPending": amount(get("status paymentPending")), "paid": amount(get("status paid")),
			},
		}
		for _, name := range []string{"budget", "invoiced", "invoicedGross", "paidGross", "committed", "openCommitment",
			"overInvoiced", "pendingChanges"} {
			shown[name] = amount(get(name))
		}
		nodes = append(nodes, shown)
	}
	return object{
		"nodes": nodes, "unallocated": amount(own.get("", "invoiced")), "unallocatedBudget": amount(own.get("", "budget")),
		"excluded": n.excluded(), "excludedCommitted": n.excludedCommitted(),
	}
}

func (n naive) shown(id, level string) bool {
	upTo := map[string]string{"budget": "budget", "subBudget": "budget subBudget", "costItem": "budget subBudget costItem"}
	path, _ := n.path(id)
	for _, p := range path {
		if level != "" && !slices.Contains(strings.Fields(upTo[level]), n.nodes[p].Level) {
			return false
		}
	}
	return true
}

func (n naive) excluded() any {
	values, counts := figures{}, figures{}
	for _, r := range n.records {
		if r.ProjectID == n.project && counting(r) && r.Currency.V != n.currency() {
			values.add(r.Currency.V, "", big.NewInt(r.Net.V))
			counts.add(r.Currency.V, "", big.NewInt(1))
		}
	}
	return listed(values, counts)
}

func (n naive) excludedCommitted() any {
	values, counts := figures{}, figures{}
	for id, c := range n.contracts {
		if c.ProjectID != n.project || c.Currency == n.currency() || c.Status != "signed" && c.Status != "completed" ||
			len(c.Allocations) == 0 {
			continue
		}
		counts.add(c.Currency, "", big.NewInt(1))
		for _, l := range n.lines(id) {
			values.add(c.Currency, "", l.committed)
		}
	}
	return listed(values, counts)
}

func listed(values, counts figures) any {
	var currencies []string
	for c := range counts {
		currencies = append(currencies, c)
	}
	sort.Strings(currencies)
	list := []any{}
	for _, c := range currencies {
		list = append(list, object{"currency": c, "value": values.get(c, ""), "count": counts.get(c, "")})
	}
	return list
}

// contract is the computed part of the answer of getContract.
func (n naive) contract(id string) any {
	c := n.contracts[id]
	amount := func(v *big.Int) any { return object{"value": v, "currency": c.Currency} }
	committed, invoiced, paid, pending := new(big.Int), new(big.Int), new(big.Int), new(big.Int)
	locked := false
	for _, r := range n.linkedRecords(id) {
		invoiced.Add(invoiced, big.NewInt(r.Net.V))
		if r.StepKind == "paid" {
			paid.Add(paid, big.NewInt(r.Net.V))
		}
	}
	for _, r := range n.records {
		locked = locked || r.ContractID.V == id && r.ProjectID == c.ProjectID && r.StepKind != "rejected" &&
			r.Source != "accrual"
	}
	amendments := []any{}
	for _, a := range naiveAmendments(c) {
		locked = locked || a.Status == "approved"
		if a.Status == "pending" && a.Value > 0 {
			pending.Add(pending, big.NewInt(a.Value))
		}
		if a.Status != "draft" {
			amendments = append(amendments, object{"id": a.ID, "status": a.Status})
		}
	}
	answer := object{
		"invoiced": amount(invoiced), "paid": amount(paid), "pendingChanges": amount(pending), "locked": locked,
		"amendments": amendments,
		"committed":  nil, "openCommitment": nil, "overInvoiced": nil, "reclassRecordIds": []any{},
	}
	lines := n.lines(id)
	if len(lines) == 0 {
		return answer
	}
	for _, l := range lines {
		committed.Add(committed, l.committed)
	}
	answer["committed"] = amount(committed)
	answer["openCommitment"] = amount(positive(minus(committed, invoiced)))
	answer["overInvoiced"] = amount(positive(minus(invoiced, committed)))
	reclass := []any{}
	for rid, r := range n.records {
		if slices.Contains(n.linkedRecords(id), r) &&
			slices.ContainsFunc(r.Allocations, func(a events.RecordAllocation) bool {
				return a.NodeID.Ok && n.lineAbove(lines, a.NodeID) == nil
			}) {
			reclass = append(reclass, rid)
		}
	}
	answer["reclassRecordIds"] = reclass
	return answer
}
