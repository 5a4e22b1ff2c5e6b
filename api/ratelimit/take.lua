-- Asks for one event of a key, and keeps its instant when it is accepted.
--
-- KEYS[1]  a list of the accepted instants, the oldest first, in microseconds of this server's clock: the one clock that all
--          instances of the API share
-- ARGV[1]  how many events a window may hold
-- ARGV[2]  the window in microseconds
--
-- Returns whether it was accepted (1 or 0), how many more would be, and the microseconds until one more would be.
local log, limit, window = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])

-- A clock that was set back, or that of a replica that took over, never lets more events through.
local newest = tonumber(redis.call('LINDEX', log, -1))
if newest and newest > now then
  now = newest
end

local oldest = tonumber(redis.call('LINDEX', log, 0))
while oldest and oldest <= now - window do
  redis.call('LPOP', log)
  oldest = tonumber(redis.call('LINDEX', log, 0))
end

local count = redis.call('LLEN', log)
if count >= limit then
  -- More than the limit are there when the limit was higher before.
  local leaves = tonumber(redis.call('LINDEX', log, count - limit))
  return {0, 0, leaves + window - now}
end
redis.call('RPUSH', log, string.format('%.0f', now))
redis.call('PEXPIRE', log, math.ceil(window / 1000))
return {1, limit - count - 1, (oldest or now) + window - now}
