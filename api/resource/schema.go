package resource

import "tallyhouse/schemas/jsonschema"

// The schemas of the OpenAPI document are JSON Schemas; a component is one that others refer to.
type (
	Schema     = jsonschema.Schema
	Properties = jsonschema.Properties
	Component  = jsonschema.Definition
)

// Reference is a schema that refers to a component of the OpenAPI document.
func Reference(c Component) *Schema { return jsonschema.Reference("#/components/schemas/", c) }
