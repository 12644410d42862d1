-- Functions of the scripts of the event log.
-- KEYS[1]: the events of one type, a stream with the fields i (id), t (time) and d (payload).
-- KEYS[2]: a hash with `epoch` (distinguishes the cursors of this log from those of lost data), `last` (id
-- of the newest event), `floor` (id of the newest dropped event) and `bytes` (size of the payloads).
local START = '0-0'

local function parse(id)
  local time, number = id:match('^(%d+)-(%d+)$')
  return tonumber(time), tonumber(number)
end

local function is_after(a, b)
  local a_time, a_number = parse(a)
  local b_time, b_number = parse(b)
  return a_time > b_time or (a_time == b_time and a_number > b_number)
end

-- Returns epoch, last and floor. Events that have expired or were evicted together are dropped ones.
local function state()
  local fields = redis.call('HMGET', meta, 'epoch', 'last', 'floor')
  local last, floor = fields[2] or START, fields[3] or START
  if last ~= START and redis.call('EXISTS', log) == 0 then floor = last end
  return fields[1], last, floor
end

-- An event that is dropped leaves nothing. Returns its size.
local function forget(_, fields) return #fields[6] end
