-- Extends the leases of a node, claims subscriptions without a lease, and returns the ids of all that the node
-- holds. ARGV: node, length of a lease, number of new leases.
local node, free = ARGV[1], tonumber(ARGV[3])
local time = now()
for _, old in ipairs(expired(time)) do forget(old) end
local ends = string.format('%.0f', time + tonumber(ARGV[2]))
local held = {}
for _, id in ipairs(redis.call('ZRANGE', expiry, 0, -1)) do
  local current = holder(id, time)
  if current == node or (not current and free > 0) then
    if not current then free = free - 1 end
    redis.call('HSET', leases, id, ends .. '|' .. node)
    held[#held + 1] = id
  end
end
return held
