package api

// OperationIDs lists what the router serves.
func OperationIDs() []string {
	var ids []string
	for _, o := range operations() {
		ids = append(ids, o.id)
	}
	return ids
}
