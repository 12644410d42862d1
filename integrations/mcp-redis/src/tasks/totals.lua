-- Functions of the scripts that add and remove tasks.
-- KEYS[1]: the task, a hash with `r` (record), `v` (revision) and `w` (the write that made it).
-- KEYS[2]: a sorted set of task ids by the time of their expiry in milliseconds.
-- KEYS[3]: a hash with SIZE|OWNER for each task id.
-- KEYS[4]: a hash with `bytes` (size of all records) and o:OWNER (number of the owner's tasks).
local task, expiry, sizes, totals = KEYS[1], KEYS[2], KEYS[3], KEYS[4]

local function total(field)
  return tonumber(redis.call('HGET', totals, field) or '0')
end

local function add(field, count)
  local value = total(field) + count
  if value > 0 then
    redis.call('HSET', totals, field, string.format('%.0f', value))
  else
    redis.call('HDEL', totals, field)
  end
end

-- Keeps the keys of all tasks for at least as long as a task.
local function keep(ttl)
  for index = 2, 4 do
    if redis.call('PTTL', KEYS[index]) < ttl then redis.call('PEXPIRE', KEYS[index], ttl) end
  end
end

-- Removes a task from the totals.
local function forget(id)
  local entry = redis.call('HGET', sizes, id)
  redis.call('ZREM', expiry, id)
  redis.call('HDEL', sizes, id)
  if not entry then return end
  local size, owner = entry:match('^(%d+)|(.*)$')
  add('bytes', -size)
  if owner ~= '' then add('o:' .. owner, -1) end
end
