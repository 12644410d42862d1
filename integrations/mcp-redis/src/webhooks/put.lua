-- Stores a subscription. Returns stored, full or owner.
-- ARGV: id, owner, subscription, progress of a new one, ttl, maximum of subscriptions, of those of one owner.
local id, owner, ttl = ARGV[1], ARGV[2], tonumber(ARGV[5])
local time = now()
local old = expired(time)
if redis.call('EXISTS', webhook) == 1 then
  redis.call('HSET', webhook, 's', ARGV[3])
else
  -- Before the first write: after one, Redis lets a script use more than the maximum memory.
  -- A record that Redis has removed before its time of expiry does not count.
  table.insert(old, id)
  local refused = refusal(owner, old, ARGV[6], ARGV[7])
  table.remove(old)
  if refused then return refused end
  redis.call('HSET', webhook, 's', ARGV[3], 'p', ARGV[4], 'o', owner)
  redis.call('HDEL', leases, id)
end
redis.call('PEXPIRE', webhook, ttl)
for _, other in ipairs(old) do forget(other) end
redis.call('ZADD', expiry, string.format('%.0f', time + ttl), id)
redis.call('HSET', owners, id, owner)
return 'stored'
