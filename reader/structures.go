package reader

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tallyhouse/analytics"
	"tallyhouse/schemas/events"
)

// ProjectRef names a project and the budget structure that it uses.
type ProjectRef struct {
	ID          string
	StructureID events.Opt[string]
}

// nodePositionsQuery tells how far the table of budget nodes has got: it changes with every change of a node.
func nodePositionsQuery() Query {
	return Query{SQL: `SELECT project, max(row_version)
FROM budget_nodes
WHERE tenant = ''
GROUP BY project`}
}

// nodesQuery finds the nodes that exist only in these projects and those of these structures, and beside them the position rows: one
// statement, so both are one snapshot.
func nodesQuery(tenant string, projects, structures []string) Query {
	return Query{
		SQL: `SELECT tenant, project, row_version, id, structure_id, parent_id, level, code, name, description, active, accounting_codes
FROM budget_nodes FINAL
WHERE tenant = ''
   OR (tenant = {tenant:String} AND NOT deleted
       AND (project IN {projects:Array(String)} OR (project = '' AND structure_id IN {structures:Array(String)})))`,
		Args: map[string]any{"tenant": tenant, "projects": projects, "structures": structures},
	}
}

// nodePositions is a state of the table of budget nodes: partitions and their next offsets.
type nodePositions map[string]uint64

// String is the same for the same state.
func (p nodePositions) String() string {
	parts := make([]string, 0, len(p))
	for partition, next := range p {
		parts = append(parts, fmt.Sprintf("%s=%d", partition, next))
	}
	slices.Sort(parts)
	return strings.Join(parts, ";")
}

// Structures returns the budget structure of each project by its id, as it is now. Structures are kept between calls as long as no
// budget node at all has changed, which every call finds out.
func (r *Reader) Structures(ctx context.Context, tenant string, projects []ProjectRef) (map[string]*analytics.Structure, error) {
	positions := make(nodePositions)
	var partition string
	var next uint64
	err := r.each(ctx, nodePositionsQuery(), pageSettings, func(scan func(...any) error) error {
		if err := scan(&partition, &next); err != nil {
			return err
		}
		positions[partition] = next
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the positions of budget nodes: %w", err)
	}
	found, missing := r.structures.get(positions.String(), tenant, projects)
	if len(missing) == 0 {
		return found, nil
	}
	nodes, at, err := r.nodes(ctx, tenant, missing)
	if err != nil {
		return nil, err
	}
	if at.String() != positions.String() {
		// Changes came in between: what was kept may be older than what was read now.
		if nodes, at, err = r.nodes(ctx, tenant, projects); err != nil {
			return nil, err
		}
		missing, found = projects, make(map[string]*analytics.Structure, len(projects))
	}
	for _, p := range missing {
		structure := analytics.NewStructure(p.ID, p.StructureID, nodes)
		found[p.ID] = structure
		r.structures.put(at.String(), tenant, p, structure, len(nodes))
	}
	return found, nil
}

// nodes reads all nodes that the projects use.
func (r *Reader) nodes(ctx context.Context, tenant string, projects []ProjectRef) ([]analytics.Node, nodePositions, error) {
	var ids, structures []string
	for _, p := range projects {
		ids = append(ids, p.ID)
		if p.StructureID.Ok && !slices.Contains(structures, p.StructureID.V) {
			structures = append(structures, p.StructureID.V)
		}
	}
	positions := make(nodePositions)
	var nodes []analytics.Node
	var of, project, id, codes string
	var version uint64
	var n events.BudgetNode
	var structure, parent, description *string
	err := r.each(ctx, nodesQuery(tenant, ids, structures), pageSettings, func(scan func(...any) error) error {
		if err := scan(&of, &project, &version, &id, &structure, &parent, &n.Level, &n.Code, &n.Name, &description, &n.Active, &codes); err != nil {
			return err
		}
		if of == "" {
			positions[project] = version
			return nil
		}
		n.StructureID, n.ParentID, n.Description = opt(structure), opt(parent), opt(description)
		n.ProjectID = events.Opt[string]{V: project, Ok: project != ""}
		var err error
		if n.AccountingCodes, err = parseCodes(codes); err != nil {
			return fmt.Errorf("accounting codes of node %q: %w", id, err)
		}
		nodes = append(nodes, analytics.Node{ID: analytics.NodeID(id), BudgetNode: n})
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read budget nodes: %w", err)
	}
	return nodes, positions, nil
}
