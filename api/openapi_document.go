package api

import (
	"encoding/json"

	"tallyhouse/api/resource"
)

// Parts of the OpenAPI document, in the order in which they are written.
type (
	document struct {
		OpenAPI    string                                  `json:"openapi"`
		Info       documentInfo                            `json:"info"`
		Servers    []documentServer                        `json:"servers"`
		Security   []map[string][]string                   `json:"security"`
		Tags       []documentTag                           `json:"tags"`
		Paths      map[string]map[string]documentOperation `json:"paths"`
		Components documentComponents                      `json:"components"`
	}
	documentInfo struct {
		Title       string            `json:"title"`
		Version     string            `json:"version"`
		Description string            `json:"description"`
		Contact     map[string]string `json:"contact"`
		License     map[string]string `json:"license"`
	}
	documentServer struct {
		URL string `json:"url"`
	}
	documentTag struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	}
	documentOperation struct {
		OperationID string                      `json:"operationId"`
		Summary     string                      `json:"summary"`
		Description string                      `json:"description"`
		Tags        []string                    `json:"tags"`
		Parameters  []documentParameter         `json:"parameters,omitempty"`
		Body        *documentBody               `json:"requestBody,omitempty"`
		Responses   map[string]documentResponse `json:"responses"`
		Groups      []string                    `json:"x-field-group"` // of members of the answer and of filters
		Limits      documentLimits              `json:"x-limits"`
	}
	documentLimits struct {
		Requests int               `json:"requests,omitempty"` // of a key or user, to all operations together
		Seconds  int64             `json:"seconds,omitempty"`  // in any so many seconds
		PageSize *documentPageSize `json:"pageSize,omitempty"`
		Projects int               `json:"projects,omitempty"` // of a call that names none
		Messages int               `json:"messages,omitempty"` // of feedback, of a key or user, in any 24 hours
	}
	documentPageSize struct {
		Default int `json:"default"`
		Maximum int `json:"maximum"`
	}
	documentParameter struct {
		Ref         string           `json:"$ref,omitempty"`
		Name        string           `json:"name,omitempty"`
		In          string           `json:"in,omitempty"`
		Required    bool             `json:"required,omitempty"`
		Description string           `json:"description,omitempty"`
		Style       string           `json:"style,omitempty"`
		Explode     *bool            `json:"explode,omitempty"`
		Schema      *resource.Schema `json:"schema,omitempty"`
		Example     string           `json:"example,omitempty"`
		Groups      []string         `json:"x-field-group,omitempty"` // a filter on these
	}
	documentResponse struct {
		Ref         string                     `json:"$ref,omitempty"`
		Description string                     `json:"description,omitempty"`
		Headers     map[string]documentHeader  `json:"headers,omitempty"`
		Content     map[string]documentContent `json:"content,omitempty"`
	}
	documentHeader struct {
		Description string           `json:"description"`
		Required    bool             `json:"required,omitempty"`
		Schema      *resource.Schema `json:"schema"`
	}
	documentBody struct {
		Required bool                       `json:"required"`
		Content  map[string]documentContent `json:"content"`
	}
	documentContent struct {
		Schema   *resource.Schema           `json:"schema"`
		Examples map[string]documentExample `json:"examples,omitempty"`
	}
	documentExample struct {
		Summary string          `json:"summary"`
		Value   json.RawMessage `json:"value"`
	}
	documentComponents struct {
		SecuritySchemes map[string]map[string]string `json:"securitySchemes"`
		Parameters      map[string]documentParameter `json:"parameters"`
		Schemas         *resource.Properties         `json:"schemas"`
		Responses       map[string]documentResponse  `json:"responses"`
	}
)
