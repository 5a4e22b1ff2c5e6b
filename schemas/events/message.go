package events

import (
	"bytes"
	"fmt"
	"reflect"
	"time"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"tallyhouse/schemas/jsonschema"
)

// codec reads and writes the messages of one topic.
type codec struct {
	topic  Topic
	decode func(d *decoder) Event
	append func(b []byte, e Event) []byte // e.Data is of the topic's payload type
	data   func(b []byte, data any) []byte
	schema func() *jsonschema.Schema
}

// message is a change event as its JSON object has it.
type message[T any] struct {
	Envelope
	data *T
}

// entity makes the codec of a topic from the table of its payload. check has the rules between members, also those of
// the envelope; nil when there are none.
func entity[T any](topic Topic, payload *object[T], check func(d *decoder, e *Envelope, data *T)) (codec, reflect.Type) {
	payload = payload.open()
	data := kind[*T]{
		read: func(d *decoder, v **T) {
			*v = one[T](d)
			d.asWritten = d.again
			begin := d.at
			if payload.read(d, *v); d.err == nil {
				d.data, d.dataAsWritten = d.text[begin:d.at], d.asWritten
			}
		},
		write:  func(b []byte, v **T) []byte { return payload.write(b, *v) },
		schema: payload.kind().schema,
	}
	const beside = " What is refused beside the schema: docs/events.md#beside-the-schema"
	whole := table("event", "A change event. "+payload.description+beside,
		need("id", id, func(m *message[T]) *string { return &m.ID }),
		need("tenantId", tenant, func(m *message[T]) *string { return &m.TenantID }),
		need("version", version, func(m *message[T]) *int64 { return &m.Version }).
			doc("rises with every change of the entity"),
		need("op", operation, func(m *message[T]) *Op { return &m.Op }),
		need("at", instant, func(m *message[T]) *time.Time { return &m.At }).
			doc("when the change happened"),
		optional(need("data", data, func(m *message[T]) **T { return &m.data }),
			func(m *message[T]) bool { return m.data != nil }).
			doc("the entity's complete state; null or absent when op is delete, and only then"),
	).open().checked(func(d *decoder, m *message[T]) {
		switch {
		case m.Op == Delete && m.data != nil:
			d.failAt("data", "must be absent when op is delete")
		case m.Op == Upsert && m.data == nil:
			d.failAt("data", "is missing: an upsert carries the entity's complete state")
		case check != nil && m.data != nil:
			check(d, &m.Envelope, m.data)
		}
	})
	return codec{
		topic: topic,
		decode: func(d *decoder) Event {
			m := one[message[T]](d)
			whole.read(d, m)
			if m.data == nil {
				return Event{Envelope: m.Envelope}
			}
			return Event{Envelope: m.Envelope, Data: m.data}
		},
		append: func(b []byte, e Event) []byte {
			m := message[T]{Envelope: e.Envelope}
			m.data, _ = e.Data.(*T)
			return whole.write(b, &m)
		},
		data: func(b []byte, data any) []byte { return payload.write(b, data.(*T)) },
		schema: func() *jsonschema.Schema {
			s := whole.schema()
			s.If, s.Then, s.Else = dataByOp()
			return s
		},
	}, reflect.TypeFor[*T]()
}

// dataByOp says in JSON Schema that an upsert has data and a delete has none.
func dataByOp() (isDelete, then, otherwise *jsonschema.Schema) {
	null := &jsonschema.Schema{Type: "null"}
	with := func(name string, s *jsonschema.Schema) *jsonschema.Properties {
		p := &jsonschema.Properties{}
		p.Add(name, s)
		return p
	}
	isDelete = &jsonschema.Schema{Required: []string{"op"}, Properties: with("op", &jsonschema.Schema{Const: "delete"})}
	then = &jsonschema.Schema{Properties: with("data", null)}
	otherwise = &jsonschema.Schema{Required: []string{"data"}, Properties: with("data", &jsonschema.Schema{Not: null})}
	return isDelete, then, otherwise
}

var version = integer(1, MaxVersion).named("version", "1 to 9007199254740991")

var tenant = without(chars(1, MaxIDLength), slash, zero).named("tenantId", "1 to 200 characters, none of them a slash or U+0000")

var operation = kind[Op]{
	read: func(d *decoder, v *Op) {
		switch s := d.str(); s {
		case "upsert":
			*v = Upsert
		case "delete":
			*v = Delete
		default:
			d.fail("must be upsert or delete, not %s", quoted(s))
		}
	},
	write: func(b []byte, v *Op) []byte {
		if *v == Delete {
			return append(b, `"delete"`...)
		}
		return append(b, `"upsert"`...)
	},
	schema: &jsonschema.Schema{Enum: []string{"upsert", "delete"}},
}

// Topics are the topics that carry entities, always in the same order: what others refer to comes first.
func Topics() []Topic {
	topics := make([]Topic, 0, len(codecs.list))
	for _, c := range codecs.list {
		topics = append(topics, c.topic)
	}
	return topics
}

// Valid reports whether the topic carries an entity.
func (t Topic) Valid() bool { return codecs.of(t) != nil }

// Key is the key that a message with this envelope must have.
func (e Envelope) Key() string { return e.TenantID + "/" + e.ID }

// Decode reads one message of a topic. The error is an *Invalid for a message that breaks a rule of
// docs/events.md#what-is-refused, ErrTombstone for a null value, and wraps ErrUnknownTopic for a topic that carries no
// entity.
//
// The event doesn't share memory with key and value. Its strings are parts of one copy of the message, which stays in
// memory as long as one of them does.
func Decode(topic Topic, key, value []byte) (Event, error) {
	c := codecs.of(topic)
	if c == nil {
		return Event{}, fmt.Errorf("decode a message of %s: %w", quoted(string(topic)), ErrUnknownTopic)
	}
	if value == nil {
		return Event{}, ErrTombstone
	}
	value = Unframed(value)
	return c.read(&decoder{text: string(value), topic: topic}, key, value)
}

// read reads the decoder's text, which is value.
func (c *codec) read(d *decoder, key, value []byte) (Event, error) {
	switch {
	case len(value) > MaxMessageBytes:
		return Event{}, refuse("has %d bytes; at most %d are allowed", len(value), MaxMessageBytes)
	case bytes.HasPrefix(value, []byte("\uFEFF")):
		return Event{}, refuse("begins with a byte order mark; send UTF-8 without one")
	case !utf8.ValidString(d.text):
		return Event{}, refuse("is not UTF-8 at byte %d", firstInvalid(value))
	}
	d.space()
	e := c.decode(d)
	d.space()
	if d.err == nil && d.at < len(d.text) {
		d.notJSON("the end")
	}
	if d.err != nil {
		return Event{}, d.err
	}
	if len(key) != len(e.TenantID)+1+len(e.ID) || string(key[:len(e.TenantID)]) != e.TenantID || key[len(e.TenantID)] != '/' ||
		string(key[len(e.TenantID)+1:]) != e.ID {
		rule := fmt.Sprintf("must be tenantId/id, here %s, not %s", quoted(e.Key()), quoted(string(key)))
		return Event{}, &Invalid{Member: "key", Rule: rule}
	}
	return e, nil
}

// firstInvalid is the position of the first byte that is not part of a UTF-8 character.
func firstInvalid(b []byte) (at int) {
	for at < len(b) {
		r, n := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		at += n
	}
	return at
}

func refuse(rule string, args ...any) *Invalid { return &Invalid{Rule: fmt.Sprintf(rule, args...)} }

// Encode writes the value of the message for an event and checks it by all rules of Decode: Decode takes what it
// returns under the event's Key, and returns the same event.
func Encode(topic Topic, e Event) ([]byte, error) {
	value, err := Append(nil, topic, e)
	if err != nil {
		return nil, err
	}
	if _, err := Decode(topic, []byte(e.Key()), value); err != nil {
		return nil, fmt.Errorf("encode %s of %s: %w", quoted(e.Key()), topic, err)
	}
	return value, nil
}

// Append appends the value of the message for an event to b, without checking it by the rules. It fails when the
// event's data are not of the topic's type.
func Append(b []byte, topic Topic, e Event) ([]byte, error) {
	c := codecs.of(topic)
	if c == nil {
		return b, fmt.Errorf("encode a message of %s: %w", quoted(string(topic)), ErrUnknownTopic)
	}
	if e.Data != nil && codecs.byType[reflect.TypeOf(e.Data)] != c {
		return b, fmt.Errorf("encode %s of %s: its data are a %T", quoted(e.Key()), topic, e.Data)
	}
	return c.append(b, e), nil
}

// ContentHash is a hash of what the event says of its entity: op and data. Two messages of one entity and version with
// equal hashes are repetitions of each other, others conflict. Order of members, white space, null instead of absent,
// the way a number is written, ext and the envelope's at make no difference. It stays the same over releases: an
// optional member that is added later changes it only where it is given.
func (e Event) ContentHash() uint64 {
	if e.Data == nil {
		return deleteHash()
	}
	c := codecs.byType[reflect.TypeOf(e.Data)]
	if c == nil {
		return 0
	}
	return xxhash.Sum64(c.data(make([]byte, 0, 640), e.Data))
}

func deleteHash() uint64 { return xxhash.Sum64String("delete") }

type registry struct {
	list    []*codec
	byTopic map[Topic]*codec
	byType  map[reflect.Type]*codec
}

func (r *registry) of(t Topic) *codec { return r.byTopic[t] }

func (r *registry) add(c codec, payload reflect.Type) {
	r.list = append(r.list, &c)
	r.byTopic[c.topic] = &c
	r.byType[payload] = &c
}

var codecs = everyCodec()

func everyCodec() *registry {
	r := &registry{byTopic: map[Topic]*codec{}, byType: map[reflect.Type]*codec{}}
	r.add(entity(Projects, project, nil))
	r.add(entity(BudgetNodes, budgetNode, checkBudgetNode))
	r.add(entity(BudgetRows, budgetRow, nil))
	r.add(entity(BudgetTransfers, budgetTransfer, nil))
	r.add(entity(UncommittedEntries, uncommittedEntry, nil))
	r.add(entity(Contractors, contractor, nil))
	r.add(entity(Contracts, contract, checkContract))
	r.add(entity(Claims, claim, nil))
	r.add(entity(Records, record, checkRecord))
	r.add(entity(LinePlans, linePlan, nil))
	r.add(entity(ForecastSnapshots, forecastSnapshot, checkSnapshot))
	r.add(entity(Units, unit, nil))
	r.add(entity(Leases, lease, nil))
	r.add(entity(IndexValues, indexValue, checkIndexValue))
	r.add(entity(Facilities, facility, checkFacility))
	r.add(entity(Fixings, fixing, nil))
	r.add(entity(FacilityEntries, facilityEntry, nil))
	r.add(entity(Users, user, nil))
	r.add(entity(Memberships, membership, nil))
	r.add(entity(Keys, key, nil))
	r.add(entity(ReceivedFeedback, feedback, nil))
	r.add(entity(Readings, reading, nil))
	r.add(entity(Requests, request, checkRequest))
	r.add(entity(Answers, answer, nil))
	return r
}
