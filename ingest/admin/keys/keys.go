// Package keys makes, lists and revokes the keys of the API. They are entities like all others: a key is known to every
// instance as soon as its event is in Kafka. Its secret is stored nowhere.
package keys

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/sethvargo/go-retry"

	"tallyhouse/ingest/kafka"
	"tallyhouse/schemas/events"
)

// Request says what a new key may do. Its holder never gets more than its owner.
type Request struct {
	Tenant      string
	Owner       string // id of the user for whom it acts
	Environment string // test, live
	Financial   bool   // whether it may see the financial field group
	Groups      []string
	ProjectIDs  []string  // nil: all of the owner's; likewise Groups
	Expires     time.Time // zero: never
}

// New makes a key: the text that its holder presents, and the event that makes it known.
func New(r Request, now time.Time) (text string, e events.Event) {
	// rand.Text is base32: no underscore, which separates the parts. The secret may have any character.
	id, prefix := rand.Text(), rand.Text()[:8]
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails
	secret := base64.RawURLEncoding.EncodeToString(random[:])
	sum := sha256.Sum256([]byte(secret))
	k := &events.Key{
		OwnerUserID:  r.Owner,
		Environment:  r.Environment,
		Prefix:       prefix,
		SecretSHA256: hex.EncodeToString(sum[:]),
		Financial:    r.Financial,
	}
	if r.Groups != nil {
		k.Groups = events.Some(r.Groups)
	}
	if r.ProjectIDs != nil {
		k.ProjectIDs = events.Some(r.ProjectIDs)
	}
	if !r.Expires.IsZero() {
		k.ExpiresAt = events.Some(r.Expires.UTC())
	}
	return "pk_" + r.Environment + "_" + prefix + "_" + secret, event(r.Tenant, id, 1, now, k)
}

// Create makes a key and has Kafka acknowledge it.
func Create(ctx context.Context, c kafka.Cluster, r Request) (text string, e events.Event, err error) {
	now := time.Now()
	if !r.Expires.IsZero() && !r.Expires.After(now) {
		return "", events.Event{}, fmt.Errorf("create a key: it would have expired at %s", r.Expires.Format(time.RFC3339))
	}
	text, e = New(r, now)
	if err := send(ctx, c, e); err != nil {
		return "", events.Event{}, fmt.Errorf("create a key: %w", err)
	}
	return text, e, nil
}

func event(tenant, id string, version int64, at time.Time, k *events.Key) events.Event {
	return events.Event{
		Envelope: events.Envelope{ID: id, TenantID: tenant, Version: version, Op: events.Upsert, At: at.UTC().Truncate(time.Microsecond)},
		Data:     k,
	}
}

func send(ctx context.Context, c kafka.Cluster, e events.Event) error {
	value, err := events.Encode(events.Keys, e)
	if err != nil {
		return err
	}
	_, _, err = kafka.Send(ctx, c, kafkago.Message{Topic: string(events.Keys), Key: []byte(e.Key()), Value: value})
	return err
}

// ErrNotFound says that a tenant has no key of this id.
var ErrNotFound = errors.New("no such key; `tallyhouse keys list` shows them")

// errNotRevoked says that a revocation was sent and is not what counts.
var errNotRevoked = errors.New("it was sent, and the key's newest state still isn't revoked: somebody else writes it at this moment, " +
	"or in a transaction that is open; revoke it again until this says that it is revoked")

const (
	firstLook   = 50 * time.Millisecond
	longestLook = time.Second
	// mostRevoked is how often a revocation is sent.
	mostRevoked = 8
)

// Revoked is a key that was revoked.
type Revoked struct {
	Known
	// Unasked is why the database could not be asked for a newer version than Kafka's log has; nil when it was.
	Unasked error
}

// Revoke ends a key at once and for good. One that is revoked already stays as it is. Of two equal versions the first counts, so
// it returns only when what counts is revoked: somebody may have written the version that a revocation took. While the database is
// away that is what the log has, of a key that had to be revoked there.
func Revoke(ctx context.Context, s Sources, tenant, id string) (k Revoked, err error) {
	sent := false
	pauses := retry.WithMaxRetries(mostRevoked, retry.WithCappedDuration(longestLook, retry.NewExponential(firstLook)))
	err = retry.Do(ctx, pauses, func(ctx context.Context) (err error) {
		k.Known, err = s.find(ctx, tenant, id)
		if sent && k.RevokedAt.Ok && errors.Is(err, errUnasked) {
			k.Unasked = err
			return nil
		}
		if err != nil || k.RevokedAt.Ok {
			return err
		}
		now := time.Now().UTC().Truncate(time.Microsecond)
		revoked := k.Key
		revoked.RevokedAt = events.Some(now)
		if err := send(ctx, s.Kafka, event(tenant, id, k.Version+1, now, &revoked)); err != nil {
			return err
		}
		sent = true
		return retry.RetryableError(errNotRevoked)
	})
	if err != nil {
		return Revoked{}, fmt.Errorf("revoke key %s: %w", id, err)
	}
	return k, nil
}
