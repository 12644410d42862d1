-- Functions of the scripts of streams, whose bounds are the same.
local log, meta = KEYS[1], KEYS[2]

-- Drops the oldest events beyond the limits. `forget` forgets one, and returns its size.
local function trim(max_events, max_bytes, max_age, forget)
  local oldest = now() - max_age
  local length = redis.call('XLEN', log)
  local bytes = tonumber(redis.call('HGET', meta, 'bytes') or '0')
  local dropped = nil
  while length > 0 do
    local first = redis.call('XRANGE', log, '-', '+', 'COUNT', 1)[1]
    if not first then break end
    local age = tonumber(first[1]:match('^(%d+)-'))
    if length <= max_events and bytes <= max_bytes and age >= oldest then break end
    length = length - 1
    redis.call('XTRIM', log, 'MAXLEN', length)
    bytes = bytes - forget(first[1], first[2])
    dropped = first[1]
  end
  if dropped then redis.call('HSET', meta, 'bytes', bytes, 'floor', dropped) end
end
