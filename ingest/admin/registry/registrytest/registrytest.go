// Package registrytest is a schema registry in memory, for tests. It speaks the part of Confluent's protocol that
// publishing needs, and refuses whatever that protocol doesn't say.
package registrytest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

const contentType = "application/vnd.schemaregistry.v1+json"

// Registry is a registry that a test may look into.
type Registry struct {
	URL            string
	User, Password string // asked for where there is a user

	mu       sync.Mutex
	schemas  []string          // by id, from 1
	subjects map[string][]int  // ids by version, from 1
	levels   map[string]string // compatibility by subject
	refuses  map[string]string // why a subject takes no further version
	writes   int               // requests that changed something
}

// Start starts a registry that ends with the test.
func Start(t testing.TB) *Registry {
	t.Helper()
	r := &Registry{subjects: map[string][]int{}, levels: map[string]string{}, refuses: map[string]string{}}
	routes := http.NewServeMux()
	routes.HandleFunc("POST /subjects/{subject}", r.lookUp)
	routes.HandleFunc("POST /subjects/{subject}/versions", r.register)
	routes.HandleFunc("GET /schemas/ids/{id}/versions", r.usages)
	routes.HandleFunc("GET /subjects/{subject}/versions/{version}", r.version)
	routes.HandleFunc("POST /compatibility/subjects/{subject}/versions/latest", r.compatible)
	routes.HandleFunc("GET /config/{subject}", r.level)
	routes.HandleFunc("PUT /config/{subject}", r.setLevel)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		user, password, _ := request.BasicAuth()
		if r.User != "" && (user != r.User || password != r.Password) {
			fail(w, http.StatusUnauthorized, 401, "Unauthorized")
			return
		}
		if request.Method != http.MethodGet && request.Header.Get("Content-Type") != contentType {
			fail(w, http.StatusUnsupportedMediaType, 415, "HTTP 415 Unsupported Media Type")
			return
		}
		routes.ServeHTTP(w, request)
	}))
	t.Cleanup(server.Close)
	r.URL = server.URL
	return r
}

// Refuse has a subject find every other schema incompatible.
func (r *Registry) Refuse(subject, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refuses[subject] = reason
}

// Put makes a schema the next version of a subject.
func (r *Registry) Put(subject, schema string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.subjects[subject] = append(r.subjects[subject], r.id(schema))
}

// Subject is the newest schema of a subject, how many versions it has, and its own compatibility.
func (r *Registry) Subject(subject string) (schema string, versions int, level string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ids := r.subjects[subject]; len(ids) > 0 {
		schema, versions = r.schemas[ids[len(ids)-1]-1], len(ids)
	}
	return schema, versions, r.levels[subject]
}

// Writes is how many requests have changed something.
func (r *Registry) Writes() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.writes
}

// id is that of a schema: the same text has the same one in all subjects.
func (r *Registry) id(schema string) int {
	if i := slices.Index(r.schemas, schema); i >= 0 {
		return i + 1
	}
	r.schemas = append(r.schemas, schema)
	return len(r.schemas)
}

func fail(w http.ResponseWriter, status, code int, message string) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error_code": code, "message": message})
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", contentType)
	_ = json.NewEncoder(w).Encode(value)
}

// read reads a schema of type JSON, strictly.
func (r *Registry) read(w http.ResponseWriter, request *http.Request) (schema string, ok bool) {
	var body struct {
		Schema string `json:"schema"`
		Type   string `json:"schemaType"`
	}
	decoder := json.NewDecoder(request.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&body); err != nil {
		fail(w, http.StatusUnprocessableEntity, 422, err.Error())
		return "", false
	}
	var parsed map[string]any
	if err := json.Unmarshal([]byte(body.Schema), &parsed); err != nil || body.Type != "JSON" {
		fail(w, http.StatusUnprocessableEntity, 42201, "Invalid schema")
		return "", false
	}
	return body.Schema, true
}

func (r *Registry) stored(subject string, version int) map[string]any {
	id := r.subjects[subject][version-1]
	return map[string]any{"subject": subject, "version": version, "id": id, "schemaType": "JSON", "schema": r.schemas[id-1]}
}

func (r *Registry) lookUp(w http.ResponseWriter, request *http.Request) {
	schema, ok := r.read(w, request)
	if !ok {
		return
	}
	subject := request.PathValue("subject")
	switch version := slices.Index(r.subjects[subject], slices.Index(r.schemas, schema)+1); {
	case len(r.subjects[subject]) == 0:
		fail(w, http.StatusNotFound, 40401, fmt.Sprintf("Subject '%s' not found.", subject))
	case version < 0:
		fail(w, http.StatusNotFound, 40403, "Schema not found")
	default:
		answer(w, r.stored(subject, version+1))
	}
}

func (r *Registry) register(w http.ResponseWriter, request *http.Request) {
	schema, ok := r.read(w, request)
	if !ok {
		return
	}
	subject := request.PathValue("subject")
	if reason := r.refuses[subject]; reason != "" {
		fail(w, http.StatusConflict, 409, "Schema being registered is incompatible with an earlier schema: "+reason)
		return
	}
	id := r.id(schema)
	if !slices.Contains(r.subjects[subject], id) {
		r.subjects[subject] = append(r.subjects[subject], id)
		r.writes++
	}
	answer(w, map[string]any{"id": id})
}

func (r *Registry) usages(w http.ResponseWriter, request *http.Request) {
	var id int
	_, _ = fmt.Sscan(request.PathValue("id"), &id) // 0 is no id
	all := []map[string]any{}
	for subject, ids := range r.subjects {
		if version := slices.Index(ids, id); version >= 0 {
			all = append(all, map[string]any{"subject": subject, "version": version + 1})
		}
	}
	if len(all) == 0 {
		fail(w, http.StatusNotFound, 40403, "Schema not found")
		return
	}
	answer(w, all)
}

func (r *Registry) version(w http.ResponseWriter, request *http.Request) {
	var version int
	_, err := fmt.Sscan(request.PathValue("version"), &version)
	subject := request.PathValue("subject")
	if err != nil || version < 1 || version > len(r.subjects[subject]) {
		fail(w, http.StatusNotFound, 40402, "Version not found.")
		return
	}
	answer(w, r.stored(subject, version))
}

func (r *Registry) compatible(w http.ResponseWriter, request *http.Request) {
	if _, ok := r.read(w, request); !ok {
		return
	}
	subject := request.PathValue("subject")
	if len(r.subjects[subject]) == 0 {
		fail(w, http.StatusNotFound, 40401, fmt.Sprintf("Subject '%s' not found.", subject))
		return
	}
	reason := r.refuses[subject]
	result := map[string]any{"is_compatible": reason == ""}
	if reason != "" && request.URL.Query().Get("verbose") == "true" {
		result["messages"] = []string{reason}
	}
	answer(w, result)
}

func (r *Registry) level(w http.ResponseWriter, request *http.Request) {
	subject := request.PathValue("subject")
	if r.levels[subject] == "" {
		fail(w, http.StatusNotFound, 40408, fmt.Sprintf("Subject '%s' does not have subject-level compatibility configured", subject))
		return
	}
	answer(w, map[string]any{"compatibilityLevel": r.levels[subject]})
}

func (r *Registry) setLevel(w http.ResponseWriter, request *http.Request) {
	var body struct {
		Compatibility string `json:"compatibility"`
	}
	decoder := json.NewDecoder(request.Body)
	decoder.DisallowUnknownFields()
	known := []string{"NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE"}
	if err := decoder.Decode(&body); err != nil || !slices.Contains(known, body.Compatibility) {
		fail(w, http.StatusUnprocessableEntity, 42203, "Invalid compatibility level. Valid values are "+strings.Join(known, ", "))
		return
	}
	r.levels[request.PathValue("subject")] = body.Compatibility
	r.writes++
	answer(w, body)
}
