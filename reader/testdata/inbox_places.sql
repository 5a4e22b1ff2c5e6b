SELECT DISTINCT newest, id, project
FROM readings
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND state = {state:String} AND positionCaseInsensitiveUTF8(sender, {sender:String}) > 0 AND newest <= {from:Int64} AND newest > {to:Int64} AND (positionCaseInsensitiveUTF8(number, {text:String}) > 0 OR positionCaseInsensitiveUTF8(supplier, {text:String}) > 0 OR gross = {amount:Int64}) AND newest >= {newest:Int64} AND (newest, id) > ({newest:Int64}, {after:String}) AND newest <= {last:Int64} AND (newest, id) <= ({last:Int64}, {until:String})
ORDER BY tenant, newest, id
LIMIT {limit:UInt32}
-- after = "i1"
-- amount = "100"
-- from = "-2"
-- last = "-3"
-- limit = "51"
-- newest = "-7"
-- projects = "[P1 P2]"
-- sender = "b.example"
-- state = "doubtful"
-- tenant = "acme"
-- text = "R-1"
-- to = "-7"
-- until = "i2"
