package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"tallyhouse/api"
	"tallyhouse/api/session"
	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// groupMembers are the members of resources by field group, as spec sections 2 and 5 list them: the test's own copy.
var groupMembers = map[string][]string{
	"amounts":    {"net", "tax", "gross"},
	"budget":     {"allocations", "budgetNode", "budgetStructureId"},
	"payment":    {"dueDate", "cashDate"},
	"documents":  {"documents", "inboundEmail"},
	"accounting": {"accountingCodes"},
}

// without takes from an admin's object what a caller with these groups may not see.
func without(object map[string]any, groups []string) map[string]any {
	left := make(map[string]any)
	for name, value := range object {
		hidden := false
		for group, members := range groupMembers {
			hidden = hidden || slices.Contains(members, name) && !slices.Contains(groups, group)
		}
		if hidden {
			continue
		}
		if list, ok := value.([]any); ok && name == "allocations" && !slices.Contains(groups, "amounts") {
			var bare []any
			for _, a := range list {
				bare = append(bare, map[string]any{"budgetNode": a.(map[string]any)["budgetNode"]})
			}
			value = bare
		}
		left[name] = value
	}
	return left
}

// TestACallerSeesTheAdminsAnswerWithPartsRemoved is the access matrix: memberships, ceilings and projects are drawn,
// what should be seen is computed anew here, and every answer must be the admin's without the rest.
func TestACallerSeesTheAdminsAnswerWithPartsRemoved(t *testing.T) {
	w := structured(t)
	workspaces := map[string]string{"P1": "", "P2": "W1", "P3": "W1", "P4": "W2"}
	for id, workspace := range workspaces {
		w.project(id, events.Project{WorkspaceID: events.Opt[string]{V: workspace, Ok: workspace != ""},
			BudgetStructureID: some("S1"), InboundEmail: some(id + "@in.example")})
		w.records(record{id: "R-" + id, project: id, status: "paid", contractor: "K1", currency: "EUR", net: some(int64(100)),
			nodes: []string{"i"}, nets: []int64{100},
			due: some(calendar.NewDate(2026, 1, 2)), cash: some(calendar.NewDate(2026, 1,
				3)), documents: `[{"name":"a","kind":"original"}]`})
	}
	w.seen(adminKey, "P1", "P2", "P3", "P4")
	admin := make(map[string]map[string]any)
	for id := range workspaces {
		admin["/v0/records/R-"+id] = w.get(adminKey, "/v0/records/R-"+id).want(t, 200, "").json
		admin["/v0/projects/"+id] = w.get(adminKey, "/v0/projects/"+id).want(t, 200, "").json
	}

	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		user, secret := fmt.Sprintf("U%d", run), fmt.Sprintf("pk_test_k%d_secret", run)
		// Given a user with drawn memberships, and a key with drawn ceilings
		scopes := []events.Scope{{Tenant: true}, {ProjectID: some("P1")}, {ProjectID: some("P3")}, {WorkspaceID: some("W1")},
			{WorkspaceID: some("W2")}, {ProjectID: some("P9")}}
		roles := make(map[string]string) // by project, the strongest
		for i, scope := range scopes {
			role := rapid.SampledFrom([]string{"", "", "guest", "user", "admin"}).Draw(rt, "role")
			if role == "" {
				continue
			}
			w.send(events.Memberships, tenant, fmt.Sprintf("M%d-%d", run, i),
				&events.Membership{UserID: user, Scope: scope, Role: role})
			for id, workspace := range workspaces {
				if (scope.Tenant || scope.ProjectID.V == id || scope.WorkspaceID.Ok && scope.WorkspaceID.V == workspace) &&
					roles[id] != "admin" && roles[id] != "user" {
					roles[id] = role
				}
			}
		}
		var ceiling, only []string
		all := []string{"core", "amounts", "budget", "payment", "documents", "accounting", "tax", "financial"}
		hasCeiling, hasOnly := rapid.Bool().Draw(rt, "ceiling"), rapid.Bool().Draw(rt, "only")
		if hasCeiling {
			ceiling = rapid.SliceOfDistinct(rapid.SampledFrom(all), rapid.ID).Draw(rt, "groups")
		}
		if hasOnly {
			only = rapid.SliceOfDistinct(rapid.SampledFrom([]string{"P1", "P2", "P3", "P4", "P9"}), rapid.ID).Draw(rt,
				"projects")
		}
		w.send(events.Users, tenant, user, &events.User{Name: user, Active: true})
		w.key(user, secret, func(k *events.Key) {
			k.Groups, k.ProjectIDs = events.Opt[[]string]{V: ceiling, Ok: hasCeiling}, events.Opt[[]string]{V: only, Ok: hasOnly}
		})
		// When it is known (each message travels on its own: the sum of them is what counts)
		var visible []string
		for id := range workspaces {
			if roles[id] != "" && (!hasOnly || slices.Contains(only, id)) {
				visible = append(visible, id)
			}
		}
		slices.Sort(visible)
		groupsOf := func(id string) []string {
			groups := all
			if roles[id] == "guest" {
				groups = []string{"core"}
			}
			return slices.DeleteFunc(slices.Clone(groups),
				func(g string) bool { return hasCeiling && g != "core" && !slices.Contains(ceiling, g) })
		}
		matches := func() string {
			list := w.get(secret, "/v0/projects")
			if list.status != 200 || strings.Join(list.items("id"), ",") != strings.Join(visible, ",") {
				return fmt.Sprintf("projects %d %s, want %v", list.status, list.body, visible)
			}
			records := w.get(secret, "/v0/records")
			var want []any
			for _, id := range visible {
				want = append(want, without(admin["/v0/records/R-"+id], groupsOf(id)))
			}
			if got, _ := records.json["data"].([]any); !same(got, want) {
				return fmt.Sprintf("records %s, want %v", records.body, want)
			}
			for id := range workspaces {
				for _, path := range []string{"/v0/projects/" + id, "/v0/records/R-" + id} {
					got := w.get(secret, path)
					if !slices.Contains(visible, id) {
						if got.status != 404 {
							return fmt.Sprintf("%s: %d %s", path, got.status, got.body)
						}
					} else if want := without(admin[path], groupsOf(id)); !same(got.json, want) {
						return fmt.Sprintf("%s: %s, want %v", path, got.body, want)
					}
				}
			}
			// And a filter is taken if and only if its group is granted in every project that the call spans.
			for filter, group := range map[string]string{
				"budgetNodeId=i": "budget", "cashDateFrom=2026-01-01": "payment", "cashDateTo=2026-01-01": "payment",
				"hasCashDate=true": "payment", "accountingCode=datev:1": "accounting",
				"channel=app": "core", "status=paid": "core", "invoiceNumber=1": "core", "source=invoice": "core",
				"contractorId=1": "core", "recognitionDateFrom=2026-01-01": "core",
			} {
				for _, named := range []string{"", "&projectId=P1", "&projectId=P9"} {
					spanned := visible
					if id := strings.TrimPrefix(named, "&projectId="); slices.Contains(visible, id) {
						spanned = []string{id}
					}
					allowed := !slices.ContainsFunc(spanned, func(id string) bool { return !slices.Contains(groupsOf(id), group) })
					got := w.get(secret, "/v0/records?"+filter+named)
					refused := got.json["type"] == "/problems/filter-not-allowed"
					if refused == allowed {
						return fmt.Sprintf("%s%s: %d %s, groups %s", filter, named, got.status, got.body, group)
					}
				}
			}
			return ""
		}
		// Then
		err := await(knownWithin, func() error {
			if difference := matches(); difference != "" {
				return errors.New(difference)
			}
			return nil
		})
		if err != nil {
			rt.Fatal(err)
		}
	})
}

func same(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y) || string(x) == "null" && string(y) == "[]" || string(x) == "[]" && string(y) == "null"
}

// subject is a user with a key, who is a guest of a workspace by a membership, with one project in it.
type subject struct{ user, key, membership, project, workspace string }

func (w *world) subject(number int) subject {
	w.Helper()
	s := subject{fmt.Sprintf("U%d", number), fmt.Sprintf("pk_test_s%d_secret", number), fmt.Sprintf("M%d", number),
		fmt.Sprintf("P%d", number), fmt.Sprintf("W%d", number)}
	w.send(events.Users, tenant, s.user, &events.User{Name: s.user, Active: true})
	w.send(events.Memberships, tenant, s.membership,
		&events.Membership{UserID: s.user, Scope: events.Scope{WorkspaceID: some(s.workspace)}, Role: "guest"})
	w.key(s.user, s.key, func(*events.Key) {})
	w.project(s.project, events.Project{WorkspaceID: some(s.workspace)})
	w.seen(s.key, s.project)
	return s
}

func TestAccessChangesAtOnce(t *testing.T) {
	w := newWorld(t)
	elsewhere := events.Scope{WorkspaceID: some("empty")}
	number := 0
	for name, change := range map[string]func(s subject){
		"the key is revoked": func(s subject) {
			w.key(s.user, s.key, func(k *events.Key) { k.RevokedAt = some(time.Now().UTC()) })
		},
		"the key expires": func(s subject) {
			w.key(s.user, s.key, func(k *events.Key) { k.ExpiresAt = some(time.Now().UTC()) })
		},
		"the key is deleted":     func(s subject) { w.send(events.Keys, tenant, "key-"+strings.Split(s.key, "_")[2], nil) },
		"the key goes to nobody": func(s subject) { w.key("nobody", s.key, func(*events.Key) {}) },
		"the key goes live":      func(s subject) { w.key(s.user, s.key, func(k *events.Key) { k.Environment = "live" }) },
		"the key gets another secret": func(s subject) {
			w.key(s.user, s.key, func(k *events.Key) { k.SecretSHA256 = strings.Repeat("0", 64) })
		},
		"the key gets another prefix": func(s subject) { w.key(s.user, s.key, func(k *events.Key) { k.Prefix = "other" }) },
		"the key gets a ceiling": func(s subject) {
			w.key(s.user, s.key, func(k *events.Key) { k.ProjectIDs = some([]string{"other"}) })
		},
		"the owner is set inactive": func(s subject) { w.send(events.Users, tenant, s.user, &events.User{Name: s.user}) },
		"the owner is deleted":      func(s subject) { w.send(events.Users, tenant, s.user, nil) },
		"the project is deleted":    func(s subject) { w.send(events.Projects, tenant, s.project, nil) },
		"the project leaves": func(s subject) {
			w.send(events.Projects, tenant, s.project,
				&events.Project{Name: "P", Currency: "EUR", WorkspaceID: some("elsewhere")})
		},
		"the membership is deleted": func(s subject) { w.send(events.Memberships, tenant, s.membership, nil) },
		"the membership goes elsewhere": func(s subject) {
			w.send(events.Memberships, tenant, s.membership, &events.Membership{UserID: s.user, Scope: elsewhere, Role: "admin"})
		},
		"the membership goes to others": func(s subject) {
			w.send(events.Memberships, tenant, s.membership,
				&events.Membership{UserID: "other", Scope: events.Scope{WorkspaceID: some(s.workspace)}, Role: "admin"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			// Given access by way of a workspace
			number++
			s := w.subject(number)
			// When
			change(s)
			// Then
			w.eventually(knownWithin, "access is gone", func() bool {
				one := w.get(s.key, "/v0/projects/"+s.project).status
				list := w.get(s.key, "/v0/projects")
				return (one == 401 || one == 404) && (list.status == 401 || len(list.items("id")) == 0)
			})
		})
	}
}

func TestVersionsDecideWhateverThePartition(t *testing.T) {
	// Given a key that has been revoked
	w := adminWorld(t)
	old := events.Event{Envelope: events.Envelope{ID: "key-admin", TenantID: tenant, Version: 1, Op: events.Upsert,
		At: time.Now().UTC()}}
	w.key("U-admin", adminKey, func(k *events.Key) {
		old.Data = &events.Key{OwnerUserID: k.OwnerUserID, Environment: k.Environment, Prefix: k.Prefix,
			SecretSHA256: k.SecretSHA256}
		k.RevokedAt = some(time.Now().UTC())
	})
	w.eventually(knownWithin, "the key is revoked", func() bool { return w.get(adminKey, "/v0/projects").status == 401 })
	// When its older state comes again, in every partition, and garbage with it
	value, err := events.Encode(events.Keys, old)
	w.must(err)
	exactly, err := kgo.NewClient(kgo.SeedBrokers(w.broker), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	w.must(err)
	defer exactly.Close()
	for p := range int32(partitions) {
		w.must(exactly.ProduceSync(context.Background(),
			&kgo.Record{Topic: string(events.Keys), Partition: p, Key: []byte(old.Key()), Value: value},
			&kgo.Record{Topic: string(events.Keys), Partition: p, Key: []byte(old.Key())},
			&kgo.Record{Topic: string(events.Keys), Partition: p, Key: []byte(old.Key()), Value: []byte("{")},
		).FirstErr())
	}
	// Then another change, sent after them, takes effect, and they did not.
	w.user("U2", guestKey, "guest")
	w.known(guestKey)
	w.get(adminKey, "/v0/projects").want(t, 401, "invalid-credentials")
}

func TestStoredAccessIsLoadedWithItsPositions(t *testing.T) {
	// Given a database that holds access up to some offsets, and topics with one more change behind them
	w := newWorld(t)
	w.user("U", guestKey, "guest")
	w.project("P1", events.Project{})
	w.seen(guestKey, "P1")
	head := func(id string) map[string]any {
		return map[string]any{"tenant": tenant, "project": "", "id": id, "row_version": uint64(50)}
	}
	with := func(row, more map[string]any) map[string]any {
		for k, v := range more {
			row[k] = v
		}
		return row
	}
	w.insert("users", with(head("stored"), map[string]any{"name": "stored", "active": true, "deleted": false}),
		with(head("left"), map[string]any{"name": "left", "active": true, "deleted": true}))
	w.insert("memberships", with(head("m1"), map[string]any{"user_id": "stored", "scope_tenant": true, "role": "guest"}),
		with(head("m2"), map[string]any{"user_id": "left", "scope_tenant": true, "role": "guest"}))
	sum := "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b" // of "secret"
	key := func(id, prefix, owner string) map[string]any {
		return with(head(id), map[string]any{"owner_user_id": owner, "environment": environment, "prefix": prefix,
			"secret_sha256": sum, "groups": []string{}, "project_ids": []string{}})
	}
	w.insert("keys", key("k1", "stored", "stored"), key("k2", "left", "left"))

	// When an instance starts
	_, url := w.start()
	// Then it knows both, and who has left
	first := w.url
	w.url = url
	w.get("pk_test_stored_secret", "/v0/projects").want(t, 200, "")
	w.get("pk_test_left_secret", "/v0/projects").want(t, 401, "invalid-credentials")
	w.get(guestKey, "/v0/projects").want(t, 200, "")
	w.url = first
	w.get("pk_test_stored_secret", "/v0/projects").want(t, 401, "invalid-credentials")

	// And when the positions lie at the topics' ends, nothing before them is read again.
	ends := w.ends(events.Keys)
	for p, end := range ends {
		w.insert("keys", with(key("", "", ""),
			map[string]any{"tenant": "", "project": fmt.Sprintf("#%d", p), "id": "", "row_version": uint64(end)}))
	}
	_, w.url = w.start()
	w.get("pk_test_stored_secret", "/v0/projects").want(t, 200, "")
	w.get(guestKey, "/v0/projects").want(t, 401, "invalid-credentials")
}

// ends are the ends of a topic's partitions.
func (w *world) ends(topic events.Topic) map[int32]int64 {
	w.Helper()
	request := kmsg.NewPtrListOffsetsRequest()
	request.ReplicaID = -1
	of := kmsg.NewListOffsetsRequestTopic()
	of.Topic = string(topic)
	for p := range int32(partitions) {
		one := kmsg.NewListOffsetsRequestTopicPartition()
		one.Partition, one.Timestamp = p, -1
		of.Partitions = append(of.Partitions, one)
	}
	request.Topics = append(request.Topics, of)
	answer, err := request.RequestWith(context.Background(), w.kafka)
	w.must(err)
	ends := make(map[int32]int64)
	for _, p := range answer.Topics[0].Partitions {
		ends[p.Partition] = p.Offset
	}
	return ends
}

func TestAPositionBeyondTheLogsEndIsRefused(t *testing.T) {
	// Given a database that belongs to another cluster
	w := newWorld(t)
	w.insert("users", map[string]any{"tenant": "", "project": "#0", "id": "", "row_version": uint64(1000), "name": "",
		"active": false})
	// When an instance starts
	server, err := api.New(api.Options{ClickHouse: w.db, Kafka: []kgo.Opt{kgo.SeedBrokers(w.broker)},
		Environment: environment})
	w.must(err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { server.Follow(ctx); close(done) }()
	defer func() { cancel(); <-done }()
	// Then it says so, and never is ready
	w.eventually(readyWithin, "the reason is told", func() bool {
		err := server.Ready()
		return err != nil && strings.Contains(err.Error(), "belongs to another cluster")
	})
}

func TestADatabaseThatCannotBeReadIsNotReady(t *testing.T) {
	// Given a database that this binary can read
	w := newWorld(t)
	var wrong atomic.Pointer[error]
	server, url := w.start(func(o *api.Options) {
		o.Check = func(context.Context) error {
			if err := wrong.Load(); err != nil {
				return *err
			}
			return nil
		}
	})
	w.url = url
	// When somebody begins to work on its sums
	err := errors.New("a rebuild is in progress")
	wrong.Store(&err)
	// Then it is not ready, and says why, until that is over.
	w.eventually(readyWithin, "it is not ready", func() bool { return errors.Is(server.Ready(), err) })
	w.get("", "/readyz").want(t, 503, "")
	wrong.Store(nil)
	w.eventually(readyWithin, "it is ready again", func() bool { return server.Ready() == nil })
	w.get("", "/readyz").want(t, 200, "")
}

// Given a database that can't be read from the start, such as one shard of several, then nobody gets a figure of it until it
// can.
func TestADatabaseThatNeverWasRightAnswersNobody(t *testing.T) {
	w := newWorld(t)
	w.user("U", adminKey, "admin")
	w.project("P1", events.Project{})
	w.seen(adminKey, "P1")
	wrong := errors.New("one shard of two")
	var right atomic.Bool
	server, url := w.begin(func(o *api.Options) {
		o.Check = func(context.Context) error {
			if right.Load() {
				return nil
			}
			return wrong
		}
	})
	w.url = url
	w.eventually(readyWithin, "it lacks nothing else", func() bool {
		err := server.Ready()
		return err != nil && err.Error() == wrong.Error()
	})
	w.get(adminKey, "/v0/projects").want(t, 500, "internal-error")
	person := session.User{Tenant: tenant, ID: "U"}
	if status, body := server.Ask(t.Context(), person, "/v0/projects"); status != http.StatusInternalServerError {
		t.Errorf("who has signed in at the desk is answered with %d %s", status, body)
	}
	if _, err := server.Caller(person); !errors.Is(err, wrong) {
		t.Errorf("who has signed in at the desk sees what they may: %v", err)
	}
	right.Store(true)
	w.eventually(readyWithin, "it answers", func() bool { return w.get(adminKey, "/v0/projects").status == 200 })
	if status, body := server.Ask(t.Context(), person, "/v0/projects"); status != http.StatusOK {
		t.Errorf("and then they are answered with %d %s", status, body)
	}
}

func TestWithoutKafkaNothingIsAnswered(t *testing.T) {
	t.Parallel()
	// Given a broker that goes away
	dir, addr := t.TempDir(), ""
	w := newWorld(t)
	broker := kafkatest.StartIn(t, dir, "127.0.0.1:0")
	addr, w.broker = broker.Addr(), broker.Addr()
	kafka, err := kgo.NewClient(kgo.SeedBrokers(addr))
	w.must(err)
	w.kafka.Close()
	w.kafka = kafka
	for _, topic := range []events.Topic{events.Projects, events.Users, events.Memberships, events.Keys} {
		w.createTopic(string(topic))
	}
	w.versions = make(map[string]int64)
	w.user("U", adminKey, "admin")
	server, url := w.start()
	w.url = url
	w.known(adminKey)
	w.must(broker.Stop(context.Background()))
	// When access has not been confirmed for a while
	w.eventually(30*time.Second, "it is not ready", func() bool { return server.Ready() != nil })
	// Then nothing is answered, not even that a token is wrong
	w.get(adminKey, "/v0/projects").faulty(t, "Who may see what cannot be confirmed at the moment")
	w.get("pk_test_no_key", "/v0/projects").faulty(t, "Who may see what cannot be confirmed at the moment")
	w.get("", "/v0/projects").want(t, 401, "authentication-required")
	w.get("", "/readyz").want(t, 503, "")
	w.get("", "/healthz").want(t, 200, "")
	// And when it is back, everything is as before.
	kafkatest.StartIn(t, dir, addr)
	w.eventually(readyWithin, "it is ready again", func() bool { return server.Ready() == nil })
	w.get(adminKey, "/v0/projects").want(t, 200, "")
}

func TestNewPartitionsAreRead(t *testing.T) {
	// Given
	w := adminWorld(t)
	// When a topic gets more partitions, and a change arrives in one of them
	request := kmsg.NewPtrCreatePartitionsRequest()
	topic := kmsg.NewCreatePartitionsRequestTopic()
	topic.Topic, topic.Count = string(events.Keys), partitions+2
	request.Topics, request.TimeoutMillis = append(request.Topics, topic), 5000
	_, err := request.RequestWith(context.Background(), w.kafka)
	w.must(err)
	kafkatest.AwaitTopic(t, w.broker, string(events.Keys), partitions+2)
	revoked := events.Event{Envelope: events.Envelope{ID: "key-admin", TenantID: tenant, Version: 99, Op: events.Delete,
		At: time.Now().UTC()}}
	value, err := events.Encode(events.Keys, revoked)
	w.must(err)
	exactly, err := kgo.NewClient(kgo.SeedBrokers(w.broker), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	w.must(err)
	defer exactly.Close()
	w.must(exactly.ProduceSync(context.Background(),
		&kgo.Record{Topic: string(events.Keys), Partition: partitions + 1, Key: []byte(revoked.Key()),
			Value: value}).FirstErr())
	// Then it is known, and requests are answered again.
	w.eventually(knownWithin, "the key is gone",
		func() bool { return w.get(adminKey, "/v0/projects").status == http.StatusUnauthorized })
	w.eventually(readyWithin, "it is ready", func() bool { return w.server.Ready() == nil })
}

func TestAKeyWithoutTheFinancialFlag(t *testing.T) {
	// Nothing that is served yet belongs to the financial group, but no other group may hang on the flag.
	w := adminWorld(t)
	w.records(record{id: "R1", project: "P1", currency: "EUR", net: some(int64(1))})
	full := w.get(adminKey, "/v0/records/R1").want(t, 200, "")
	w.key("U-admin", strangerKey, func(k *events.Key) { k.Financial = false })
	w.known(strangerKey)
	if r := w.get(strangerKey, "/v0/records/R1"); string(r.body) != string(full.body) {
		t.Errorf("got %s, want %s", r.body, full.body)
	}
}
