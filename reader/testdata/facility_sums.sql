SELECT project, toString(roll), toString(status), concat(reinterpretAsFixedString(toInt128(sum(value))), '')
FROM sums
WHERE tenant = {tenant:String} AND project IN {facilities:Array(String)} AND roll IN {rolls:Array(String)}
GROUP BY project, roll, status
-- facilities = "[F1 F2]"
-- rolls = "[capitalised drawdowns repayments]"
-- tenant = "acme"
