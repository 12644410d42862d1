-- Functions of the scripts of the event store.
-- KEYS[1]: the events of the session, a stream with the fields s (name of the MCP stream), t (message)
-- and l (1 for the last event of its MCP stream).
-- KEYS[2]: a hash with `bytes` (size of the messages), `base` (id before the first event of the session),
-- `floor` (id of the newest dropped event), and `s:NAME` for each MCP stream that has events:
-- count|floor|last|nonce|id.
local log, meta = KEYS[1], KEYS[2]
local PATTERN = '^(%d+)|([^|]*)|([^|]*)|([^|]*)|([^|]*)$'

local function read(name)
  local state = redis.call('HGET', meta, 's:' .. name)
  if not state then return nil end
  return state:match(PATTERN)
end

local function write(name, count, floor, last, nonce, id)
  redis.call('HSET', meta, 's:' .. name, count .. '|' .. floor .. '|' .. last .. '|' .. nonce .. '|' .. id)
end

-- Drops the oldest events beyond the limits.
local function trim(max_events, max_bytes, max_age)
  local time = redis.call('TIME')
  local oldest = time[1] * 1000 + math.floor(time[2] / 1000) - max_age
  local length = redis.call('XLEN', log)
  local bytes = tonumber(redis.call('HGET', meta, 'bytes') or '0')
  local dropped = nil
  while length > 0 do
    local first = redis.call('XRANGE', log, '-', '+', 'COUNT', 1)[1]
    if not first then break end
    local id, name, text = first[1], first[2][2], first[2][4]
    local age = tonumber(id:match('^(%d+)-'))
    if length <= max_events and bytes <= max_bytes and age >= oldest then break end
    length = length - 1
    redis.call('XTRIM', log, 'MAXLEN', length)
    bytes = bytes - #text
    dropped = id
    local count, _, last, nonce, newest = read(name)
    if count then
      if tonumber(count) <= 1 then
        redis.call('HDEL', meta, 's:' .. name)
      else
        write(name, count - 1, id, last, nonce, newest)
      end
    end
  end
  if dropped then redis.call('HSET', meta, 'bytes', bytes, 'floor', dropped) end
end
