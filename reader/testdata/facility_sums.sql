SELECT project, toString(roll), toString(status), concat(reinterpretAsFixedString(toInt128(sum(value))), '')
FROM sums
WHERE tenant = {tenant:String} AND project IN {facilities:Array(String)} AND (startsWith(keys, 'capitalised\0') OR startsWith(keys, 'drawdowns\0') OR startsWith(keys, 'repayments\0'))
GROUP BY project, roll, status
-- facilities = "[F1 F2]"
-- tenant = "acme"
