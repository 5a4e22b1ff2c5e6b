package verify

import (
	"context"
	"fmt"

	"tallyhouse/ingest/store/database"
)

// node is a budget node as far as its place in a tree goes.
type node struct {
	project, structure, parent string // '' for none
}

// A node's parent is a node of the same structure, or for one that exists only in a project, of that project or its
// structure.
const nodesOf = `
SELECT toString(n.tenant), n.id, n.project, ifNull(n.structure_id, ''), ifNull(n.parent_id, ''), ifNull(p.budget_structure_id, '')
FROM (SELECT * FROM budget_nodes FINAL WHERE ` + live + `) AS n
LEFT JOIN (SELECT * FROM projects FINAL WHERE ` + live + `) AS p ON p.tenant = n.tenant AND p.project = n.project
ORDER BY n.tenant, n.id`

// ineffectiveNodes are the budget nodes that hang on nothing: their parent is missing, deleted or elsewhere, or is
// their own descendant.
func ineffectiveNodes(ctx context.Context, db Database, most int) ([]Warning, error) {
	orphans := Warning{What: "budget nodes whose parent is missing, deleted or of another structure: they and what is below them are " +
		"not effective"}
	circles := Warning{What: "budget nodes that are their own ancestors: they and what is below them are not effective"}
	of, nodes := "", map[string]node{}
	note := func(w *Warning, id string) {
		if w.Count++; len(w.First) < most {
			w.First = append(w.First, of+" "+id)
		}
	}
	check := func() {
		for id, n := range nodes {
			switch {
			case n.parent == "":
			case !isParent(n.parent, n, nodes):
				note(&orphans, id)
			case isOwnAncestor(id, nodes):
				note(&circles, id)
			}
		}
	}
	err := db.Rows(ctx, database.Query{SQL: nodesOf + overShards, Limit: warningLimit}, func(scan func(...any) error) error {
		var tenant, id, structureOfProject string
		var n node
		if err := scan(&tenant, &id, &n.project, &n.structure, &n.parent, &structureOfProject); err != nil {
			return err
		}
		if tenant != of {
			check()
			of, nodes = tenant, map[string]node{}
		}
		if n.project != "" {
			n.structure = structureOfProject
		}
		nodes[id] = n
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for budget nodes without a place: %w", err)
	}
	check()
	var found []Warning
	for _, w := range []Warning{orphans, circles} {
		if w.Count > 0 {
			found = append(found, w)
		}
	}
	return found, nil
}

// isParent reports whether there is a node of that id that can be the parent of another.
func isParent(id string, child node, nodes map[string]node) bool {
	n, ok := nodes[id]
	if !ok || n.project != "" {
		return ok && n.project == child.project
	}
	return n.structure == child.structure
}

func isOwnAncestor(id string, nodes map[string]node) bool {
	at := nodes[id].parent
	for range nodes {
		if at == id {
			return true
		}
		n, ok := nodes[at]
		if !ok || n.parent == "" {
			return false
		}
		at = n.parent
	}
	return false // it leads into a circle that it is no part of
}
