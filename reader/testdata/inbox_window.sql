SELECT match.1, match.2, match.3, length(matches) = 51, last.1, last.2, looked
FROM (
  SELECT groupArraySortedIf(51)((newest, id, project), tenant = {tenant:String} AND project IN {projects:Array(String)} AND state = {state:String} AND positionCaseInsensitiveUTF8(sender, {sender:String}) > 0 AND newest <= {from:Int64} AND newest > {to:Int64} AND (positionCaseInsensitiveUTF8(number, {text:String}) > 0 OR positionCaseInsensitiveUTF8(supplier, {text:String}) > 0 OR (transform(toString(currency), {currencies:Array(String)}, {decimals:Array(Int64)}, {usual:Int64}), gross) IN arrayZip({grossOf:Array(Int64)}, {gross:Array(Int64)}))) AS matches, max((newest, id)) AS last, toInt64(count()) AS looked
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
-- currencies = "[BHD BIF CLF CLP DJF GNF IQD ISK JOD JPY KMF KRW KWD LYD OMR PYG RWF TND UGX UYI UYW VND VUV XAF XOF XPF]"
-- decimals = "[3 0 4 0 0 0 3 0 3 0 0 0 3 3 3 0 0 3 0 0 4 0 0 0 0 0]"
-- from = "-2"
-- gross = "[1 100]"
-- grossOf = "[0 2]"
-- newest = "-7"
-- projects = "[P1 P2]"
-- sender = "b.example"
-- state = "doubtful"
-- tenant = "acme"
-- text = "R-1"
-- to = "-7"
-- usual = "2"
-- window = "204"
