package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sethvargo/go-retry"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// AwaitTopic waits until the broker has so many partitions of a topic and leads them, none where the topic was deleted.
// A real broker hears from its controller of what was done to a topic a moment after the one who did it got its answer.
func AwaitTopic(t testing.TB, addr, topic string, partitions int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(addr))
	if err != nil {
		t.Fatalf("kafkatest: %v", err)
	}
	defer client.Close()
	pauses := retry.WithMaxDuration(patience, retry.NewConstant(10*time.Millisecond))
	err = retry.Do(ctx, pauses, func(ctx context.Context) error {
		n, err := led(ctx, client, topic)
		if err != nil || n != partitions {
			return retry.RetryableError(fmt.Errorf("topic %s has %d partitions, want %d: %w", topic, n, partitions, err))
		}
		return nil
	})
	if err != nil {
		t.Fatalf("kafkatest: %v", err)
	}
}

// led counts the partitions of a topic that the broker leads.
func led(ctx context.Context, client *kgo.Client, topic string) (int, error) {
	metadata := kmsg.NewPtrMetadataRequest()
	asked := kmsg.NewMetadataRequestTopic()
	asked.Topic = &topic
	metadata.Topics = append(metadata.Topics, asked)
	found, err := metadata.RequestWith(ctx, client)
	if err != nil {
		return 0, err
	}
	err = kerr.ErrorForCode(found.Topics[0].ErrorCode)
	if errors.Is(err, kerr.UnknownTopicOrPartition) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	list := kmsg.NewPtrListOffsetsRequest()
	of := kmsg.NewListOffsetsRequestTopic()
	of.Topic = topic
	for _, p := range found.Topics[0].Partitions {
		one := kmsg.NewListOffsetsRequestTopicPartition()
		one.Partition, one.Timestamp = p.Partition, -1
		of.Partitions = append(of.Partitions, one)
	}
	list.Topics = append(list.Topics, of)
	listed, err := list.RequestWith(ctx, client)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, topic := range listed.Topics {
		for _, p := range topic.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return n, fmt.Errorf("partition %d: %w", p.Partition, err)
			}
			n++
		}
	}
	return n, nil
}

// EndTransaction ends the transaction that a client is in, and waits until its readers see that. A real broker answers
// as soon as it will be so, and writes the marks afterwards.
func EndTransaction(t testing.TB, client *kgo.Client, how kgo.TransactionEndTry) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := client.EndTransaction(ctx, how); err != nil {
		t.Fatalf("kafkatest: end a transaction: %v", err)
	}
	describe := kmsg.NewPtrDescribeTransactionsRequest()
	describe.TransactionalIDs = []string{client.OptValue(kgo.TransactionalID).(string)}
	pauses := retry.WithMaxDuration(patience, retry.NewConstant(10*time.Millisecond))
	err := retry.Do(ctx, pauses, func(ctx context.Context) error {
		described, err := describe.RequestWith(ctx, client)
		if err != nil {
			return err
		}
		of := described.TransactionStates[0]
		if err := kerr.ErrorForCode(of.ErrorCode); err != nil {
			return err
		}
		if strings.HasPrefix(of.State, "Prepare") {
			return retry.RetryableError(fmt.Errorf("transaction %s is %s", of.TransactionalID, of.State))
		}
		return nil
	})
	if err != nil {
		t.Fatalf("kafkatest: wait for the end of a transaction: %v", err)
	}
}

// CleanOften has retention and compaction of topics that are made afterwards come round several times a second. Without
// it the embedded broker does them once an hour.
func CleanOften(t testing.TB, b Broker) {
	t.Helper()
	if apacheJars() != "" {
		return // it always does: apachetest's server.properties
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()))
	if err != nil {
		t.Fatalf("kafkatest: %v", err)
	}
	defer client.Close()
	request := kmsg.NewPtrIncrementalAlterConfigsRequest()
	broker := kmsg.NewIncrementalAlterConfigsRequestResource()
	broker.ResourceType, broker.ResourceName = kmsg.ConfigResourceTypeBroker, "0"
	setting := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	setting.Name, setting.Value = "log.cleaner.backoff.ms", kmsg.StringPtr("100")
	broker.Configs = append(broker.Configs, setting)
	request.Resources = append(request.Resources, broker)
	altered, err := request.RequestWith(t.Context(), client)
	if err == nil {
		err = kerr.ErrorForCode(altered.Resources[0].ErrorCode)
	}
	if err != nil {
		t.Fatalf("kafkatest: have the broker clean often: %v", err)
	}
}
