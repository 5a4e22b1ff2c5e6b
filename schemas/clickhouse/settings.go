package clickhouse

// WholeSettings are sent with every statement: a profile may set them so that a statement ends early, leaves rows out,
// adds some, answers from a cache or means something else, and says nothing of it. Half of a batch is what no position
// shows, half of a table is what nobody who reads it notices.
func WholeSettings() map[string]string {
	all := map[string]string{
		"limit": "0", "offset": "0", "additional_table_filters": "{}", "additional_result_filter": "",
		"skip_unavailable_shards": "0", "use_query_cache": "0",
		// More rows than there are, the least and the greatest value of each column; types as no client here reads them.
		"extremes": "0", "output_format_native_encode_types_in_binary_format": "0",
		// A position that is 0 because there is no row would be none, and no condition on it would hold.
		"aggregate_functions_null_for_empty": "0", "empty_result_for_aggregation_by_empty_set": "0",
		// What names and types in a statement stand for.
		"enable_analyzer": "1", "data_type_default_nullable": "0",
	}
	for _, mode := range []string{"distinct", "group_by", "join", "read", "result", "set", "sort", "timeout", "transfer"} {
		all[mode+"_overflow_mode"] = "throw"
	}
	for _, mode := range []string{"read", "timeout"} {
		all[mode+"_overflow_mode_leaf"] = "throw"
	}
	return all
}
