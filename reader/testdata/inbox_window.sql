SELECT match.1, match.2, match.3, length(matches) = 51, last.1, last.2, looked
FROM (
  SELECT groupArraySortedIf(51)((newest, id, project), tenant = {tenant:String} AND project IN {projects:Array(String)} AND state = {state:String} AND positionCaseInsensitiveUTF8(sender, {sender:String}) > 0 AND newest <= {from:Int64} AND newest > {to:Int64} AND (positionCaseInsensitiveUTF8(number, {text:String}) > 0 OR positionCaseInsensitiveUTF8(supplier, {text:String}) > 0 OR gross = {amount:Int64})) AS matches, max((newest, id)) AS last, toInt64(count()) AS looked
  FROM (
    SELECT *
    FROM readings
    WHERE tenant = {tenant:String} AND newest >= {newest:Int64} AND (newest, id) > ({newest:Int64}, {after:String})
    ORDER BY tenant, newest, id
    LIMIT {window:UInt32}
  )
)
LEFT ARRAY JOIN arrayDistinct(matches) AS match
ORDER BY match
-- after = "i1"
-- amount = "100"
-- from = "-2"
-- newest = "-7"
-- projects = "[P1 P2]"
-- sender = "b.example"
-- state = "doubtful"
-- tenant = "acme"
-- text = "R-1"
-- to = "-7"
-- window = "204"
