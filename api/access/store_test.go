package access

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tallyhouse/schemas/events"
)

// changed is one change of an entity of a topic.
type changed struct {
	topic events.Topic
	event events.Event
}

func upsert(topic events.Topic, tenant, id string, version int64, data any) changed {
	op := events.Upsert
	if data == nil {
		op = events.Delete
	}
	return changed{topic, events.Event{Envelope: events.Envelope{ID: id, TenantID: tenant, Version: version, Op: op},
		Data: data}}
}

func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func TestTheOrderOfChangesDoesNotMatter(t *testing.T) {
	ids := []string{"1", "2"}
	rapid.Check(t, func(t *rapid.T) {
		// Given changes of a few entities, each version once
		var all []changed
		for range rapid.IntRange(0, 25).Draw(t, "changes") {
			id, version := rapid.SampledFrom(ids).Draw(t, "id"), rapid.Int64Range(1, 6).Draw(t, "version")
			other := rapid.SampledFrom(ids).Draw(t, "other")
			deleted := rapid.IntRange(0, 4).Draw(t, "deleted") == 0
			var c changed
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				c = upsert(events.Projects, "t", id, version, &events.Project{WorkspaceID: events.Some("w" + other)})
			case 1:
				c = upsert(events.Users, "t", id, version, &events.User{Active: other == "1"})
			case 2:
				scope := rapid.SampledFrom([]events.Scope{{Tenant: true}, {ProjectID: events.Some(other)},
					{WorkspaceID: events.Some("w" + other)}}).Draw(t, "scope")
				c = upsert(events.Memberships, "t", id, version,
					&events.Membership{UserID: rapid.SampledFrom(ids).Draw(t, "user"), Scope: scope,
						Role: rapid.SampledFrom([]string{"guest", "admin"}).Draw(t, "role")})
			case 3:
				c = upsert(events.Keys, "t", id, version,
					&events.Key{OwnerUserID: other, Environment: "test", Prefix: "p" + rapid.SampledFrom(ids).Draw(t, "prefix"),
						SecretSHA256: hash("s" + id)})
			}
			if deleted {
				c.event.Op, c.event.Data = events.Delete, nil
			}
			if !slices.ContainsFunc(all, func(o changed) bool {
				return o.topic == c.topic && o.event.ID == c.event.ID && o.event.Version == c.event.Version
			}) {
				all = append(all, c)
			}
		}
		// When they are applied in order of their versions, and in any order, some twice
		inOrder, shuffled := NewStore(), NewStore()
		slices.SortStableFunc(all, func(a, b changed) int { return int(a.event.Version - b.event.Version) })
		for _, c := range all {
			inOrder.Apply(c.topic, c.event)
		}
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for range 2 {
			random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			for _, c := range all {
				shuffled.Apply(c.topic, c.event)
			}
		}
		// Then every key sees the same
		for _, prefix := range ids {
			for _, secret := range ids {
				token := "pk_test_p" + prefix + "_s" + secret
				if a, b := seen(inOrder, token), seen(shuffled, token); a != b {
					t.Fatalf("%s sees %s in order, %s in another", token, a, b)
				}
			}
		}
	})
}

func seen(s *Store, token string) string {
	caller, err := s.CallerByKey(token, "test", time.Now())
	if err != nil {
		return err.Error()
	}
	text := caller.Principal()
	for _, p := range caller.Projects() {
		text += fmt.Sprintf(" %s:%v", p.ID, p.Groups.Names())
	}
	return text
}

func TestACallerDoesNotChangeDuringARequest(t *testing.T) {
	// Given a caller who has been told of a project
	s := NewStore()
	for _, c := range []changed{
		upsert(events.Projects, "t", "P", 1, &events.Project{}),
		upsert(events.Users, "t", "U", 1, &events.User{Active: true}),
		upsert(events.Memberships, "t", "M", 1,
			&events.Membership{UserID: "U", Scope: events.Scope{Tenant: true}, Role: "admin"}),
	} {
		s.Apply(c.topic, c.event)
	}
	one, err := s.CallerByUser("t", "U")
	if err != nil {
		t.Fatal(err)
	}
	list, _ := s.CallerByUser("t", "U")
	before, _ := one.Project("P")
	list.Projects()
	// When the project goes, and another one comes
	for _, c := range []changed{upsert(events.Projects, "t", "P", 2, nil), upsert(events.Projects, "t", "Q", 1, &events.Project{})} {
		s.Apply(c.topic, c.event)
	}
	// Then the request goes on as it began, and the next one knows
	if now, ok := one.Project("P"); !ok || now != before || len(list.Projects()) != 1 {
		t.Error("the answer changed half-way")
	}
	_, listed := list.Project("P")
	if _, ok := list.Project("Q"); !listed || ok {
		t.Errorf("of what was listed P is seen: %v, and of what came since Q: %v", listed, ok)
	}
	next, _ := s.CallerByUser("t", "U")
	if _, ok := next.Project("P"); ok {
		t.Error("the project is still there")
	}
}

func TestKeysOfOnePrefixAreAllCompared(t *testing.T) {
	s := NewStore()
	for i, secret := range []string{"one", "two_with_underscore", "three"} {
		user := fmt.Sprint("U", i)
		for _, c := range []changed{
			upsert(events.Users, "t", user, 1, &events.User{Active: true}),
			upsert(events.Keys, "t", fmt.Sprint("K", i), 1,
				&events.Key{OwnerUserID: user, Environment: "live", Prefix: "same", SecretSHA256: hash(secret)}),
		} {
			s.Apply(c.topic, c.event)
		}
	}
	for token, want := range map[string]string{"pk_live_same_one": "key:K0", "pk_live_same_two_with_underscore": "key:K1",
		"pk_live_same_three": "key:K2", "pk_live_same_four": "", "pk_live_same_": "", "pk_live_same": "", "pk_test_same_one": "", "": "", "pk": ""} {
		caller, err := s.CallerByKey(token, "live", time.Now())
		if want == "" {
			if !errors.Is(err, ErrCredentials) {
				t.Errorf("%q: %v", token, err)
			}
			continue
		}
		if err != nil || caller.Principal() != want {
			t.Errorf("%q: %v, %v", token, caller, err)
		}
	}
}
