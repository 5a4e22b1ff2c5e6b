SELECT toString(src_partition), max(src_offset)
FROM contractors
WHERE tenant = {tenant:String}
GROUP BY src_partition
-- tenant = "acme"
