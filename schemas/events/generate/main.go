// Command generate writes what is made from the tables of members in package events: the JSON Schema of each topic, in
// schemas/events/schema, the AsyncAPI document of all of them, schemas/asyncapi.json, and the tables in docs/events.md. It
// runs in the project's folder: make generate.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"tallyhouse/schemas/asyncapi"
	"tallyhouse/schemas/events"
)

func main() {
	if err := write("."); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

const (
	schemaFolder  = "schemas/events/schema"
	documentation = "docs/events.md"
	asyncAPI      = "schemas/asyncapi.json"
)

// write writes the files below the project's folder.
func write(project string) error {
	files, err := generated(project)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(project, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generated is the text of each file that is made, by its name below the project's folder.
func generated(project string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, topic := range events.Topics() {
		schema, err := events.Schema(topic)
		if err != nil {
			return nil, err
		}
		text, err := json.MarshalIndent(schema, "", "  ")
		if err != nil {
			return nil, fmt.Errorf("write the schema of %s: %w", topic, err)
		}
		files[filepath.Join(schemaFolder, string(topic)+".schema.json")] = append(text, '\n')
	}
	document, err := asyncapi.Document()
	if err != nil {
		return nil, err
	}
	files[asyncAPI] = document
	page, err := os.ReadFile(filepath.Join(project, documentation))
	if err != nil {
		return nil, err
	}
	text, err := withTables(string(page))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", documentation, err)
	}
	files[documentation] = []byte(text)
	return files, nil
}
