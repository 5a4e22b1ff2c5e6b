package apachetest

import (
	"context"
	"fmt"
	"time"

	"github.com/sethvargo/go-retry"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Wipe removes all topics and groups, so that another test can have the broker. A start takes seconds.
func (b *Broker) Wipe(ctx context.Context) error {
	if err := b.wipeGroups(ctx); err != nil {
		return fmt.Errorf("apache kafka: remove the groups: %w", err)
	}
	if err := b.wipeTopics(ctx); err != nil {
		return fmt.Errorf("apache kafka: remove the topics: %w", err)
	}
	return nil
}

func (b *Broker) wipeGroups(ctx context.Context) error {
	listed, err := kmsg.NewPtrListGroupsRequest().RequestWith(ctx, b.client)
	if err != nil {
		return err
	}
	describe, remove := kmsg.NewPtrDescribeGroupsRequest(), kmsg.NewPtrDeleteGroupsRequest()
	for _, g := range listed.Groups {
		describe.Groups, remove.Groups = append(describe.Groups, g.Group), append(remove.Groups, g.Group)
	}
	if len(listed.Groups) == 0 {
		return nil
	}
	described, err := describe.RequestWith(ctx, b.client)
	if err != nil {
		return err
	}
	for _, g := range described.Groups { // killed members are in it until their session ends
		leave := kmsg.NewPtrLeaveGroupRequest()
		leave.Group = g.Group
		for _, m := range g.Members {
			member := kmsg.NewLeaveGroupRequestMember()
			member.MemberID = m.MemberID
			leave.Members = append(leave.Members, member)
		}
		if len(leave.Members) == 0 {
			continue
		}
		if _, err := leave.RequestWith(ctx, b.client); err != nil {
			return err
		}
	}
	removed, err := remove.RequestWith(ctx, b.client)
	if err != nil {
		return err
	}
	for _, g := range removed.Groups {
		if err := kerr.ErrorForCode(g.ErrorCode); err != nil {
			return fmt.Errorf("%s: %w", g.Group, err)
		}
	}
	return nil
}

func (b *Broker) wipeTopics(ctx context.Context) error {
	// The broker hears of it from its controller.
	return retry.Do(ctx, retry.NewConstant(20*time.Millisecond), func(ctx context.Context) error {
		r, err := kmsg.NewPtrMetadataRequest().RequestWith(ctx, b.client)
		if err != nil {
			return err
		}
		remove := kmsg.NewPtrDeleteTopicsRequest()
		remove.TimeoutMillis = 10_000
		for _, t := range r.Topics {
			if !t.IsInternal {
				topic := kmsg.NewDeleteTopicsRequestTopic()
				topic.Topic = t.Topic
				remove.TopicNames, remove.Topics = append(remove.TopicNames, *t.Topic), append(remove.Topics, topic)
			}
		}
		if len(remove.Topics) == 0 {
			return nil
		}
		if _, err := remove.RequestWith(ctx, b.client); err != nil {
			return err
		}
		return retry.RetryableError(fmt.Errorf("%d are still there", len(remove.Topics)))
	})
}
