package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"tallyhouse/ingest/admin/keys"
	"tallyhouse/ingest/kafka"
	"tallyhouse/schemas/events"
)

// adminKey is what dev remembers of its key.
type adminKey struct {
	Key   string          `json:"key"`
	Event json.RawMessage `json:"event"`
}

// admin makes an admin of tenant demo with a key, the same at every start, and sees to it that Kafka knows them.
func (d *dev) admin(ctx context.Context, cluster kafka.Cluster) (key string, err error) {
	file := filepath.Join(d.dataDir, "key.json")
	var kept adminKey
	switch content, err := os.ReadFile(file); {
	case err == nil:
		if err := json.Unmarshal(content, &kept); err != nil {
			return "", fmt.Errorf("read the key of dev in %s (delete the file to get another): %w", file, err)
		}
	case errors.Is(err, os.ErrNotExist):
		text, event := keys.New(keys.Request{Tenant: devTenant, Owner: devUser, Environment: d.api.environment,
			Financial: true}, time.Now())
		kept.Key = text
		if kept.Event, err = events.Encode(events.Keys, event); err != nil {
			return "", fmt.Errorf("make a key for dev: %w", err)
		}
		content, err := json.Marshal(kept)
		if err != nil {
			return "", fmt.Errorf("make a key for dev: %w", err)
		}
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return "", fmt.Errorf("keep the key of dev: %w", err)
		}
	default:
		return "", fmt.Errorf("read the key of dev: %w", err)
	}
	return kept.Key, sendAdmin(ctx, cluster, kept.Event)
}

// sendAdmin sends the admin, its membership and its key. Equal versions with equal content change nothing.
func sendAdmin(ctx context.Context, cluster kafka.Cluster, key []byte) error {
	envelope := events.Envelope{ID: devUser, TenantID: devTenant, Version: 1, Op: events.Upsert,
		At: time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)}
	user, err := events.Encode(events.Users, events.Event{Envelope: envelope, Data: &events.User{Name: "Development", Active: true}})
	if err != nil {
		return fmt.Errorf("make the admin of dev: %w", err)
	}
	membership, err := events.Encode(events.Memberships,
		events.Event{Envelope: envelope, Data: &events.Membership{UserID: devUser, Scope: events.Scope{Tenant: true}, Role: "admin"}})
	if err != nil {
		return fmt.Errorf("make the admin of dev: %w", err)
	}
	var of struct{ ID, TenantID string }
	if err := json.Unmarshal(key, &of); err != nil {
		return fmt.Errorf("read the key of dev: %w", err)
	}
	w := kafka.NewWriter(cluster, kafka.WriterOptions{})
	defer w.Close()
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	err = w.WriteMessages(ctx,
		kafkago.Message{Topic: string(events.Users), Key: []byte(envelope.Key()), Value: user},
		kafkago.Message{Topic: string(events.Memberships), Key: []byte(envelope.Key()), Value: membership},
		kafkago.Message{Topic: string(events.Keys), Key: []byte(of.TenantID + "/" + of.ID), Value: key})
	if err != nil {
		return fmt.Errorf("send the admin of dev: %w", err)
	}
	return nil
}
