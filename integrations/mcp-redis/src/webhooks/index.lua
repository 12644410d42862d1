-- Functions of the scripts of the store of webhooks.
-- KEYS[1]: a sorted set with the time of expiry of each subscription. KEYS[2]: a hash with its owner.
-- KEYS[3]: a hash with its lease, `until|node`.
-- KEYS[4], where a script concerns one subscription: a hash with s (subscription), p (progress) and o (owner).
local expiry, owners, leases, webhook = KEYS[1], KEYS[2], KEYS[3], KEYS[4]

local function forget(id)
  redis.call('ZREM', expiry, id)
  redis.call('HDEL', owners, id)
  redis.call('HDEL', leases, id)
end

-- Returns the ids of subscriptions that have expired.
local function expired(time)
  return redis.call('ZRANGEBYSCORE', expiry, '-inf', string.format('%.0f', time))
end

-- Returns the holder of a lease, or nil when it has ended.
local function holder(id, time)
  local lease = redis.call('HGET', leases, id)
  if not lease then return nil end
  local ends, node = lease:match('^(%d+)|(.*)$')
  return tonumber(ends) > time and node or nil
end

-- Returns why there is no space for a new subscription: full, owner, or nil. `old` have expired.
local function refusal(owner, old, limit, owner_limit)
  local gone = {}
  for _, other in ipairs(old) do gone[other] = true end
  local count, owned = 0, 0
  local all = redis.call('HGETALL', owners)
  for i = 1, #all, 2 do
    if not gone[all[i]] then
      count = count + 1
      if all[i + 1] == owner then owned = owned + 1 end
    end
  end
  if count >= tonumber(limit) then return 'full' end
  if owned >= tonumber(owner_limit) then return 'owner' end
  return nil
end
