package kafka

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Given a member of a group that waits for the answer to its join and dies, when the others have settled, then it leaves the group,
// and a member that goes on saying that it lives stays.
func TestAMemberThatDiedWhileItJoinedLeavesItsGroup(t *testing.T) {
	t.Parallel()
	b := startBroker(t, t.TempDir(), "127.0.0.1:0")
	asking := func() *kgo.Client {
		client, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		return client
	}
	lives, other := asking(), asking()

	first := enter(t, lives, "")
	settle(t, lives, first)

	// Another one joins, and dies before the first has joined again.
	dying, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	ctx, die := context.WithCancel(t.Context())
	joining := make(chan struct{})
	go func() {
		defer close(joining)
		_, _ = knock(ctx, dying, "")
	}()
	awaitGroup(t, other, "PreparingRebalance", 2)
	die()
	dying.Close()
	<-joining
	time.Sleep(100 * time.Millisecond) // until the broker has seen its connection end

	again := enter(t, lives, first.MemberID)
	settle(t, lives, again)
	stop := make(chan struct{})
	beating := make(chan struct{})
	t.Cleanup(func() { close(stop); <-beating })
	go func() {
		defer close(beating)
		for current := again; ; {
			select {
			case <-stop:
				return
			case <-time.After(100 * time.Millisecond):
			}
			beat := kmsg.NewPtrHeartbeatRequest()
			beat.Group, beat.Generation, beat.MemberID = group, current.Generation, current.MemberID
			said, err := beat.RequestWith(context.Background(), lives)
			if err == nil && kerr.ErrorForCode(said.ErrorCode) == kerr.RebalanceInProgress { // the dead one has left
				current = enter(t, lives, current.MemberID)
				settle(t, lives, current)
			}
		}
	}()
	if awaitGroup(t, other, "Stable", 2); t.Failed() {
		t.Fatal("the dead member didn't become one of the group: there was nothing to show")
	}
	left := awaitGroup(t, other, "Stable", 1)
	if left[0] != again.MemberID {
		t.Errorf("%s is left, want the one that lives, %s", left[0], again.MemberID)
	}
	time.Sleep(4 * time.Second) // several sessions and looks
	if left := awaitGroup(t, other, "Stable", 1); left[0] != again.MemberID {
		t.Errorf("%s is left in the end, want %s", left[0], again.MemberID)
	}
}

const group = "tenants"

func joinRequest(member string) *kmsg.JoinGroupRequest {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.MemberID = group, member
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 1000, 20000
	req.ProtocolType = "consumer"
	protocol := kmsg.NewJoinGroupRequestProtocol()
	protocol.Name = "mine"
	req.Protocols = append(req.Protocols, protocol)
	return req
}

// knock asks to join the group, as a member that it knows or as a new one.
func knock(ctx context.Context, client *kgo.Client, member string) (*kmsg.JoinGroupResponse, error) {
	joined, err := joinRequest(member).RequestWith(ctx, client)
	if err == nil && joined.ErrorCode == kerr.MemberIDRequired.Code {
		joined, err = joinRequest(joined.MemberID).RequestWith(ctx, client)
	}
	if err != nil {
		return nil, err
	}
	return joined, kerr.ErrorForCode(joined.ErrorCode)
}

func enter(t *testing.T, client *kgo.Client, member string) *kmsg.JoinGroupResponse {
	t.Helper()
	joined, err := knock(context.Background(), client, member)
	if err != nil {
		t.Errorf("join: %v", err)
		return kmsg.NewPtrJoinGroupResponse()
	}
	return joined
}

// settle gives everything to the one who calls it.
func settle(t *testing.T, client *kgo.Client, joined *kmsg.JoinGroupResponse) {
	t.Helper()
	req := kmsg.NewPtrSyncGroupRequest()
	req.Group, req.Generation, req.MemberID = group, joined.Generation, joined.MemberID
	given, err := req.RequestWith(context.Background(), client)
	if err == nil {
		err = kerr.ErrorForCode(given.ErrorCode)
	}
	if err != nil {
		t.Errorf("settle: %v", err)
	}
}

// awaitGroup returns the members when the group has so many, in a state.
func awaitGroup(t *testing.T, client *kgo.Client, state string, members int) (ids []string) {
	t.Helper()
	var last kmsg.DescribeGroupsResponseGroup
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		ask := kmsg.NewPtrDescribeGroupsRequest()
		ask.Groups = []string{group}
		said, err := ask.RequestWith(t.Context(), client)
		if err != nil || len(said.Groups) == 0 {
			continue
		}
		last = said.Groups[0]
		if last.State == state && len(last.Members) == members {
			for _, m := range last.Members {
				ids = append(ids, m.MemberID)
			}
			return ids
		}
	}
	t.Fatalf("the group is %s with %d members after 20 s, want %s with %d", last.State, len(last.Members), state, members)
	return nil
}
