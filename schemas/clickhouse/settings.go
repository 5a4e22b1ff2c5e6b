package clickhouse

// WholeSettings are sent with every statement: a profile may set them so that a statement ends early, leaves rows out
// or answers from a cache, and says nothing of it. Half of a batch is what no position shows, half of a table is what
// nobody who reads it notices.
func WholeSettings() map[string]string {
	all := map[string]string{
		"limit": "0", "offset": "0", "additional_table_filters": "{}", "additional_result_filter": "",
		"skip_unavailable_shards": "0", "use_query_cache": "0",
	}
	for _, mode := range []string{"distinct", "group_by", "join", "read", "result", "set", "sort", "timeout", "transfer"} {
		all[mode+"_overflow_mode"] = "throw"
	}
	for _, mode := range []string{"read", "timeout"} {
		all[mode+"_overflow_mode_leaf"] = "throw"
	}
	return all
}
