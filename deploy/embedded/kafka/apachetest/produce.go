package apachetest

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

//go:embed Produce.java
var produce string

// Produce sends a message to partition 0 of a topic by Java's producer, with these settings of it. The jars are those of Options.
func Produce(ctx context.Context, jars, addr, topic, value string, settings ...string) error {
	dir, err := os.MkdirTemp("", "produce")
	if err != nil {
		return fmt.Errorf("apache kafka: produce: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program := filepath.Join(dir, "Produce.java")
	if err := os.WriteFile(program, []byte(produce), 0o600); err != nil {
		return fmt.Errorf("apache kafka: produce: %w", err)
	}
	args := append([]string{"-cp", filepath.Join(jars, "*"), program, addr, topic, value}, settings...)
	if said, err := exec.CommandContext(ctx, "java", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("apache kafka: produce: %w: %s", err, said)
	}
	return nil
}
