-- Functions of the scripts of the event store.
-- KEYS[1]: the events of the session, a stream with the fields s (name of the MCP stream), t (message)
-- and l (1 for the last event of its MCP stream).
-- KEYS[2]: a hash with `bytes` (size of the messages), `base` (id before the first event of the session),
-- `floor` (id of the newest dropped event), and `s:NAME` for each MCP stream that has events:
-- count|floor|last|nonce|id.
local PATTERN = '^(%d+)|([^|]*)|([^|]*)|([^|]*)|([^|]*)$'

local function read(name)
  local state = redis.call('HGET', meta, 's:' .. name)
  if not state then return nil end
  return state:match(PATTERN)
end

local function write(name, count, floor, last, nonce, id)
  redis.call('HSET', meta, 's:' .. name, count .. '|' .. floor .. '|' .. last .. '|' .. nonce .. '|' .. id)
end

-- Forgets an event that is dropped. Returns its size.
local function forget(id, fields)
  local name = fields[2]
  local count, _, last, nonce, newest = read(name)
  if count and tonumber(count) <= 1 then
    redis.call('HDEL', meta, 's:' .. name)
  elseif count then
    write(name, count - 1, id, last, nonce, newest)
  end
  return #fields[4]
end
