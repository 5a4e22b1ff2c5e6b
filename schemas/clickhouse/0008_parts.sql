-- How the parts of the busiest tables are written and merged. A compact part is one file where a wide one has one for each of the some
-- 150 streams of a record's columns, and creating those was a third of what an insert cost the engine. Merging is as much again under a
-- full stream: merges of more parts at a time rewrite a row less often, and leave some more parts to read.

ALTER TABLE records {{onCluster}} MODIFY SETTING min_bytes_for_wide_part = 268435456, merge_selector_base = 10;

ALTER TABLE record_sums {{onCluster}} MODIFY SETTING min_bytes_for_wide_part = 268435456, merge_selector_base = 15;

ALTER TABLE record_months {{onCluster}} MODIFY SETTING min_bytes_for_wide_part = 268435456, merge_selector_base = 15;

ALTER TABLE record_lines {{onCluster}} MODIFY SETTING min_bytes_for_wide_part = 268435456, merge_selector_base = 15;

ALTER TABLE record_contractors {{onCluster}} MODIFY SETTING min_bytes_for_wide_part = 268435456, merge_selector_base = 15;
