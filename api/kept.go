package api

import (
	"bytes"
	doubly "container/list"
	"context"
	"net/http"
	"strconv"
	"sync"

	"tallyhouse/api/access"
	"tallyhouse/api/resource"
	"tallyhouse/reader"
)

// Bounds of the answers that are kept, in bytes.
const (
	maxKept         = 96 << 20
	maxKeptOfTenant = 32 << 20
	keptOverhead    = 1 << 10 // of each answer, beside its key and body
	mostEmpty       = 4       // at most one byte of memory in so many of a body holds nothing of it
)

// answer is the body of a data response with what belongs to it. It does not change.
type answer struct {
	body   []byte  // nil when it was too large to keep
	buffer *buffer // that it lies in; nil for a copy
	tag    string
	beyond resource.Beyond
	large  bool          // it took a large share to make it
	inputs reader.Inputs // that it was computed from; the zero value when nobody knows
}

// keptAnswers are answers that hold for as long as what they were made from stands as it did, or is the same. Each tenant's are kept
// apart: one tenant's answers never push out another's, unless all together are too many; then those go of whom nothing
// was asked for longest.
type keptAnswers struct {
	all, each int // bounds, in bytes
	buffers   *buffers

	mu      sync.Mutex
	size    int
	tenants map[string]*keptOfTenant
	used    *doubly.List // of *keptOfTenant, the most recently used in front
}

type keptOfTenant struct {
	tenant string
	size   int
	byKey  map[string]*doubly.Element
	used   *doubly.List // of *keptAnswer, the most recently used in front
	place  *doubly.Element
}

type keptAnswer struct {
	key      string
	standing reader.Standing
	answer
}

func (a *keptAnswer) size() int { return len(a.key) + cap(a.body) + keptOverhead }

func newKeptAnswers(all, each int, buffers *buffers) *keptAnswers {
	return &keptAnswers{all: all, each: each, buffers: buffers, tenants: make(map[string]*keptOfTenant), used: doubly.New()}
}

// get returns the tenant's answer of this key, and whether it was made from this standing. The buffer of a current one has
// another holder then.
func (k *keptAnswers) get(tenant, key string, standing reader.Standing) (a answer, current bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	of := k.tenants[tenant]
	if of == nil || of.byKey[key] == nil {
		return answer{}, false
	}
	e := of.byKey[key]
	of.used.MoveToFront(e)
	k.used.MoveToFront(of.place)
	kept := e.Value.(*keptAnswer)
	current = kept.standing.Is(standing) && kept.body != nil
	if current && kept.buffer != nil {
		kept.buffer.holders.Add(1)
	}
	return kept.answer, current
}

// renew returns the tenant's answer of this key once more, if it was computed from these inputs: it is one of this standing as well.
// Its buffer has another holder then.
func (k *keptAnswers) renew(tenant, key string, standing reader.Standing, inputs reader.Inputs) (a answer, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	of := k.tenants[tenant]
	if of == nil || of.byKey[key] == nil {
		return answer{}, false
	}
	kept := of.byKey[key].Value.(*keptAnswer)
	if kept.body == nil || kept.inputs != inputs {
		return answer{}, false
	}
	kept.standing = standing
	if kept.buffer != nil {
		kept.buffer.holders.Add(1)
	}
	return kept.answer, true
}

// put keeps an answer in place of the one that was kept under its key, and holds its buffer for as long.
func (k *keptAnswers) put(tenant, key string, standing reader.Standing, a answer) {
	kept := &keptAnswer{key, standing, a}
	k.mu.Lock()
	defer k.mu.Unlock()
	of := k.tenants[tenant]
	if of == nil {
		of = &keptOfTenant{tenant: tenant, byKey: make(map[string]*doubly.Element), used: doubly.New()}
		of.place = k.used.PushFront(of)
		k.tenants[tenant] = of
	}
	k.used.MoveToFront(of.place)
	if before := of.byKey[key]; before != nil {
		k.drop(of, before)
	}
	if kept.buffer != nil {
		kept.buffer.holders.Add(1)
	}
	if k.tooLarge(kept.size()) {
		k.buffers.put(kept.buffer)
		kept.body, kept.buffer = nil, nil
	}
	of.byKey[key] = of.used.PushFront(kept)
	of.size += kept.size()
	k.size += kept.size()
	for of.size > k.each {
		k.drop(of, of.used.Back())
	}
	for k.size > k.all {
		last := k.used.Back().Value.(*keptOfTenant)
		k.drop(last, last.used.Back())
		k.tidy(last)
	}
	k.tidy(of)
}

// tooLarge reports whether an answer of so many bytes is not kept.
func (k *keptAnswers) tooLarge(size int) bool { return size > k.each/2 }

func (k *keptAnswers) drop(of *keptOfTenant, e *doubly.Element) {
	gone := of.used.Remove(e).(*keptAnswer)
	k.buffers.put(gone.buffer)
	delete(of.byKey, gone.key)
	of.size -= gone.size()
	k.size -= gone.size()
}

// tidy forgets a tenant of whom nothing is kept.
func (k *keptAnswers) tidy(of *keptOfTenant) {
	if of.used.Len() == 0 && k.tenants[of.tenant] == of {
		k.used.Remove(of.place)
		delete(k.tenants, of.tenant)
	}
}

// keptLookup is what a call found among the kept answers; the zero value of a call whose answer is not kept.
type keptLookup struct {
	in          *keptAnswers
	tenant, key string
	standing    reader.Standing
	answer
	current bool
}

// lookForKept reads how far the data have come, and looks for the call's answer as of then.
func (s *Server) lookForKept(ctx context.Context, c *call, from *reader.Reader) (found keptLookup, err error) {
	if c.operation.kept == nil || !c.operation.kept(c) {
		return found, nil
	}
	id, _ := c.namedProject()
	project, ok := c.caller.Project(id)
	if !ok {
		return found, nil
	}
	standing, settled, err := from.Standing(ctx)
	if err != nil || !settled {
		return found, err
	}
	found = keptLookup{in: s.kept, tenant: c.caller.Tenant(), key: c.keptKey(project), standing: standing}
	found.answer, found.current = s.kept.get(found.tenant, found.key, found.standing)
	return found, nil
}

// keptKey is what the call's answer follows from, beside a standing: the operation and its parameters, the day, and all
// that decides what this caller sees of the project.
func (c *call) keptKey(project access.Project) string {
	structure := "none"
	if project.BudgetStructureID.Ok {
		structure = "is " + project.BudgetStructureID.V
	}
	var key []byte
	for _, part := range []string{c.operation.id, c.values.Filters(c.operation.params), c.today.String(), project.ID,
		project.Currency, structure, strconv.FormatUint(uint64(project.Groups), 2)} {
		key = append(strconv.AppendQuote(key, part), ' ')
	}
	return string(key)
}

// reply is the answer once more, if it is current.
func (l *keptLookup) reply() (reply, bool) {
	return reply{status: http.StatusOK, contentType: typeJSON, body: l.body, buffer: l.buffer, tag: l.tag, tagged: true,
		beyond: l.beyond}, l.current
}

// renew makes the answer current again, which the call would only compute once more.
func (l *keptLookup) renew(inputs reader.Inputs) {
	if l.in != nil {
		l.answer, l.current = l.in.renew(l.tenant, l.key, l.standing, inputs)
	}
}

// keep keeps the answer that was made since. Its body is kept as it is, in the buffer of the reply, unless a good part of that is
// empty: then a copy is.
func (l *keptLookup) keep(out *reply, large bool, inputs reader.Inputs) {
	if l.in == nil {
		return
	}
	out.tag = entityTag(out.body)
	kept := answer{out.body, out.buffer, out.tag, out.beyond, large, inputs}
	switch empty := cap(out.body) - len(out.body); {
	case l.in.tooLarge(len(out.body)):
		kept.body, kept.buffer = nil, nil
	case empty > len(out.body)/mostEmpty:
		kept.body, kept.buffer = bytes.Clone(out.body), nil
	}
	l.in.put(l.tenant, l.key, l.standing, kept)
}
