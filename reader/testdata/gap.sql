SELECT found_at
FROM gaps FINAL
WHERE topic = {topic:String}
ORDER BY found_at DESC
LIMIT 1
-- topic = "access.keys"
