-- Adds a task. Returns stored, conflict, full or owner.
-- ARGV: id, record, revision, write, ttl, owner, maximum of tasks, of tasks of one owner, of bytes.
local id, record, ttl, owner = ARGV[1], ARGV[2], tonumber(ARGV[5]), ARGV[6]
local known = redis.call('HGET', task, 'w')
if known then return known == ARGV[4] and 'stored' or 'conflict' end

-- The tasks that have expired no longer count. They are removed after the first write: a script that has
-- written something may use more than the maximum memory.
local time = now()
local expired = redis.call('ZRANGEBYSCORE', expiry, '-inf', time)
local bytes, count, owned = total('bytes'), redis.call('ZCARD', expiry) - #expired, total('o:' .. owner)
for _, old in ipairs(expired) do
  local entry = redis.call('HGET', sizes, old)
  if entry then
    local size, name = entry:match('^(%d+)|(.*)$')
    bytes = bytes - size
    if name == owner then owned = owned - 1 end
  end
end
if count >= tonumber(ARGV[7]) or bytes + #record > tonumber(ARGV[9]) then return 'full' end
if owner ~= '' and owned >= tonumber(ARGV[8]) then return 'owner' end

redis.call('HSET', task, 'r', record, 'v', ARGV[3], 'w', ARGV[4])
redis.call('PEXPIRE', task, ttl)
for _, old in ipairs(expired) do forget(old) end
redis.call('ZADD', expiry, string.format('%.0f', time + ttl), id)
redis.call('HSET', sizes, id, #record .. '|' .. owner)
add('bytes', #record)
if owner ~= '' then add('o:' .. owner, 1) end
keep(ttl)
return 'stored'
