package kafka

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// absentees removes members of consumer groups that kfake would keep for ever: it counts a member's session from an answer that
// has arrived, and so never for one that died while it waited for the answer to its join. Such a member would hold its
// partitions, and nobody would read them.
type absentees struct {
	client *kgo.Client
	log    *slog.Logger

	mu     sync.Mutex
	groups map[string]*watchedGroup
}

// watchedGroup is what is known of a group that somebody joined.
type watchedGroup struct {
	session time.Duration        // the longest that a member asked for
	settled time.Time            // no member has joined since, or been given its partitions
	heard   map[string]time.Time // of each member, its last heartbeat
}

// lookForAbsentees is how often groups are looked through.
const lookForAbsentees = time.Second

// watch has the cluster tell what members say.
func (a *absentees) watch(cluster *kfake.Cluster) {
	observe := func(key kmsg.Key, note func(req kmsg.Request)) {
		cluster.ControlKey(key.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
			a.mu.Lock()
			defer a.mu.Unlock()
			note(req)
			return nil, nil, false // the cluster answers
		})
	}
	observe(kmsg.JoinGroup, func(r kmsg.Request) {
		req := r.(*kmsg.JoinGroupRequest)
		g := a.groups[req.Group]
		if g == nil {
			g = &watchedGroup{heard: map[string]time.Time{}}
			a.groups[req.Group] = g
		}
		g.session = max(g.session, time.Duration(req.SessionTimeoutMillis)*time.Millisecond)
		g.settled = time.Now()
	})
	observe(kmsg.SyncGroup, func(r kmsg.Request) {
		if g := a.groups[r.(*kmsg.SyncGroupRequest).Group]; g != nil {
			g.settled = time.Now()
		}
	})
	observe(kmsg.Heartbeat, func(r kmsg.Request) {
		req := r.(*kmsg.HeartbeatRequest)
		if g := a.groups[req.Group]; g != nil {
			g.heard[req.MemberID] = time.Now()
		}
	})
}

// run looks through the groups until the context ends.
func (a *absentees) run(ctx context.Context) {
	look := time.NewTicker(lookForAbsentees)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			if err := a.remove(ctx); err != nil && ctx.Err() == nil {
				a.log.Debug("embedded kafka: groups were not looked through for members that are gone", "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// remove has every member leave its group that was silent for one and a half sessions since the group settled.
func (a *absentees) remove(ctx context.Context) error {
	ask := kmsg.NewPtrDescribeGroupsRequest()
	a.mu.Lock()
	for name := range a.groups {
		ask.Groups = append(ask.Groups, name)
	}
	a.mu.Unlock()
	if len(ask.Groups) == 0 {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, 10*lookForAbsentees)
	defer stop()
	described, err := ask.RequestWith(ctx, a.client)
	if err != nil {
		return fmt.Errorf("describe the consumer groups: %w", err)
	}
	for _, g := range described.Groups {
		for _, member := range a.absent(g) {
			leave := kmsg.NewPtrLeaveGroupRequest()
			leave.Group = g.Group
			leave.Members = []kmsg.LeaveGroupRequestMember{{MemberID: member}}
			if _, err := leave.RequestWith(ctx, a.client); err != nil {
				return fmt.Errorf("have %s leave consumer group %s: %w", member, g.Group, err)
			}
			a.log.Warn("embedded kafka: a member that died while it joined has left its consumer group",
				"group", g.Group, "member", member)
		}
	}
	return nil
}

// absent lists a group's members that are gone, and forgets what was known of those whom it doesn't have any more.
func (a *absentees) absent(g kmsg.DescribeGroupsResponseGroup) (gone []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	known := a.groups[g.Group]
	if known == nil {
		return nil
	}
	if len(g.Members) == 0 && time.Since(known.settled) > known.session {
		delete(a.groups, g.Group)
		return nil
	}
	if g.State != "Stable" {
		known.settled = time.Now()
		return nil
	}
	heard := map[string]time.Time{}
	for _, m := range g.Members {
		last := known.heard[m.MemberID]
		if last.Before(known.settled) {
			last = known.settled
		}
		heard[m.MemberID] = last
		if time.Since(last) > known.session*3/2 {
			gone = append(gone, m.MemberID)
		}
	}
	known.heard = heard
	return gone
}
