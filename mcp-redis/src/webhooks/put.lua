-- Stores a subscription. Returns stored, full or owner.
-- ARGV: id, owner, subscription, progress of a new one, ttl, maximum of subscriptions, of those of one owner.
local id, owner, ttl = ARGV[1], ARGV[2], tonumber(ARGV[5])
local time = now()
local old = expired(time)
if redis.call('EXISTS', webhook) == 1 then
  redis.call('HSET', webhook, 's', ARGV[3])
else
  -- Before the first write: after one, Redis lets a script use more than the maximum memory.
  local gone = { [id] = true }
  for _, other in ipairs(old) do gone[other] = true end
  local count, owned = 0, 0
  local all = redis.call('HGETALL', owners)
  for i = 1, #all, 2 do
    if not gone[all[i]] then
      count = count + 1
      if all[i + 1] == owner then owned = owned + 1 end
    end
  end
  if count >= tonumber(ARGV[6]) then return 'full' end
  if owned >= tonumber(ARGV[7]) then return 'owner' end
  redis.call('HSET', webhook, 's', ARGV[3], 'p', ARGV[4], 'o', owner)
  redis.call('HDEL', leases, id)
end
redis.call('PEXPIRE', webhook, ttl)
for _, other in ipairs(old) do forget(other) end
redis.call('ZADD', expiry, string.format('%.0f', time + ttl), id)
redis.call('HSET', owners, id, owner)
return 'stored'
