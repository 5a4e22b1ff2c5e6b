SELECT id, invoice_number, toInt32(recognition_date), status, assumeNotNull(value)
FROM (
  SELECT *, net AS value
  FROM records FINAL
  WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted AND source != 'accrual' AND status != 'rejected'
    AND currency = {currency:String} AND net IS NOT NULL AND contract_id = {contract:String}
)
ORDER BY recognition_date DESC, id
LIMIT {most:UInt32}
-- contract = "C1"
-- currency = "EUR"
-- most = "500"
-- project = "P1"
-- tenant = "acme"
