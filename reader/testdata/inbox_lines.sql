SELECT newest, id, project, toInt64(row_version), toUnixTimestamp64Micro(at), state, reading
FROM (
  SELECT *
  FROM readings
  PREWHERE tenant = {tenant:String} AND (project, id) IN arrayZip({of:Array(String)}, {ids:Array(String)})
  ORDER BY row_version DESC
  LIMIT 1 BY project, id
)
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND state = {state:String} AND positionCaseInsensitiveUTF8(sender, {sender:String}) > 0 AND newest <= {from:Int64} AND newest > {to:Int64} AND (positionCaseInsensitiveUTF8(number, {text:String}) > 0 OR positionCaseInsensitiveUTF8(supplier, {text:String}) > 0 OR (transform(toString(currency), {currencies:Array(String)}, {decimals:Array(Int64)}, {usual:Int64}), gross) IN arrayZip({grossOf:Array(Int64)}, {gross:Array(Int64)})) AND NOT deleted
-- currencies = "[BHD BIF CLF CLP DJF GNF IQD ISK JOD JPY KMF KRW KWD LYD OMR PYG RWF TND UGX UYI UYW VND VUV XAF XOF XPF]"
-- decimals = "[3 0 4 0 0 0 3 0 3 0 0 0 3 3 3 0 0 3 0 0 4 0 0 0 0 0]"
-- from = "-2"
-- gross = "[1 100]"
-- grossOf = "[0 2]"
-- ids = "[i3]"
-- of = "[P1]"
-- projects = "[P1 P2]"
-- sender = "b.example"
-- state = "doubtful"
-- tenant = "acme"
-- text = "R-1"
-- to = "-7"
-- usual = "2"
