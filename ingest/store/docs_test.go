package store_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"tallyhouse/ingest/store"
	"tallyhouse/schemas/events"
)

func TestTheDocumentationSaysWhichTopicsAreStored(t *testing.T) {
	page, err := os.ReadFile("../../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range events.Topics() {
		stored := "no: "
		if slices.Contains(store.Topics(), topic) {
			stored = "yes"
		}
		row := fmt.Sprintf("\n| [`%s`](#%s) | %s", topic, strings.ReplaceAll(string(topic), ".", ""), stored)
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/events.md lacks the row%s", row)
		}
	}
}
