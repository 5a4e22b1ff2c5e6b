package reader

import (
	"context"
	"fmt"
	"slices"

	"tallyhouse/analytics"
	"tallyhouse/schemas/events"
)

// ProjectRef names a project and the budget structure that it uses.
type ProjectRef struct {
	ID          string
	StructureID events.Opt[string]
}

func projectIDs(projects []ProjectRef) []string {
	ids := make([]string, len(projects))
	for i, p := range projects {
		ids[i] = p.ID
	}
	return ids
}

// maxCachedStructures bounds the structures that are kept, in bytes.
const maxCachedStructures = 128 << 20

// nodeOverhead is about what one node costs beside its texts, in bytes.
const nodeOverhead = 500

// sizeOf is about what a structure of these nodes takes, in bytes.
func sizeOf(nodes []analytics.Node) int {
	size := 0
	for i := range nodes {
		n := &nodes[i]
		size += nodeOverhead + len(n.ID) + len(n.Code) + len(n.Name) + len(n.Description.V) + len(n.ParentID.V)
		for _, c := range n.AccountingCodes {
			size += len(c.System) + len(c.Code)
		}
	}
	return size
}

// structureKey names the structure of a project.
type structureKey struct {
	tenant  string
	project ProjectRef
}

// nodeRow is a budget node, or a position row.
type nodeRow struct {
	position
	analytics.Node
}

var nodeColumns = append(positionColumns(func(r *nodeRow) *position { return &r.position }),
	member("id", text, func(r *nodeRow) *analytics.NodeID { return &r.ID }),
	member("structure_id", nullable, func(r *nodeRow) *events.Opt[string] { return &r.StructureID }),
	member("parent_id", nullable, func(r *nodeRow) *events.Opt[string] { return &r.ParentID }),
	member("level", plain, func(r *nodeRow) *string { return &r.Level }),
	member("code", plain, func(r *nodeRow) *string { return &r.Code }),
	member("name", plain, func(r *nodeRow) *string { return &r.Name }),
	member("description", nullable, func(r *nodeRow) *events.Opt[string] { return &r.Description }),
	member("active", plain, func(r *nodeRow) *bool { return &r.Active }),
	member("accounting_codes", parsed(events.ParseCodes), func(r *nodeRow) *[]events.AccountingCode { return &r.AccountingCodes }),
)

// nodesQuery finds the nodes that exist only in these projects and those of these structures, and beside them the
// position rows: one statement, so both are one snapshot.
func nodesQuery(tenant string, projects, structures []string) Query {
	return Query{
		SQL: "SELECT " + nodeColumns.String() + `
FROM budget_nodes FINAL
WHERE tenant = ''
   OR (tenant = {tenant:String} AND NOT deleted
       AND (project IN {projects:Array(String)} OR (project = '' AND structure_id IN {structures:Array(String)})))`,
		Args: map[string]any{"tenant": tenant, "projects": projects, "structures": structures},
	}
}

// structuresAt returns the budget structure of each project by its id. State is that of the table of nodes, read just
// now.
func (r *Reader) structuresAt(ctx context.Context, state, tenant string,
	projects []ProjectRef) (map[string]*analytics.Structure, error) {
	own, err := r.ownState(ctx, "budget_nodes", state, tenant)
	if err != nil {
		return nil, err
	}
	found := make(map[string]*analytics.Structure, len(projects))
	var missing []ProjectRef
	for _, p := range projects {
		if s, ok := r.structures.get(own, structureKey{tenant, p}); ok {
			found[p.ID] = s
		} else {
			missing = append(missing, p)
		}
	}
	if len(missing) == 0 {
		return found, nil
	}
	nodes, at, err := r.nodes(ctx, tenant, missing)
	if err != nil {
		return nil, err
	}
	if at != state && len(missing) < len(projects) {
		// Changes came in between: what was kept may be older than what was read now.
		missing = projects
		if nodes, _, err = r.nodes(ctx, tenant, missing); err != nil {
			return nil, err
		}
	}
	size := sizeOf(nodes)
	for _, p := range missing {
		found[p.ID] = analytics.NewStructure(p.ID, p.StructureID, nodes)
		r.structures.put(own, structureKey{tenant, p}, found[p.ID], size)
	}
	return found, nil
}

// nodes reads all nodes that the projects use, and the state of the table that they are of.
func (r *Reader) nodes(ctx context.Context, tenant string, projects []ProjectRef) ([]analytics.Node, string, error) {
	var ids, structures []string
	for _, p := range projects {
		ids = append(ids, p.ID)
		if p.StructureID.Ok && !slices.Contains(structures, p.StructureID.V) {
			structures = append(structures, p.StructureID.V)
		}
	}
	at := make(positions)
	var nodes []analytics.Node
	err := nodeColumns.read(ctx, r, nodesQuery(tenant, ids, structures), pageSettings, func(row *nodeRow) error {
		if !at.note(&row.position) {
			row.Node.ProjectID = events.Opt[string]{V: row.project, Ok: row.project != ""}
			nodes = append(nodes, row.Node)
		}
		return nil
	})
	if err != nil {
		return nil, "", fmt.Errorf("read budget nodes: %w", err)
	}
	return nodes, at.String(), nil
}
