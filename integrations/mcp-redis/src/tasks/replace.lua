-- Replaces a task with the previous revision. Returns stored, conflict, gone or full.
-- ARGV: id, record, revision, write, previous revision, maximum of bytes, channel.
local id, record, revision = ARGV[1], ARGV[2], ARGV[3]
local state = redis.call('HMGET', task, 'v', 'w')
if not state[1] then return 'gone' end
if state[2] == ARGV[4] then return 'stored' end
if state[1] ~= ARGV[5] then return 'conflict' end

local size, owner = (redis.call('HGET', sizes, id) or '0|'):match('^(%d+)|(.*)$')
local grows = #record - size
-- A task may always shrink: a store that is full can be emptied.
if grows > 0 and total('bytes') + grows > tonumber(ARGV[6]) then return 'full' end
redis.call('HSET', task, 'r', record, 'v', revision, 'w', ARGV[4])
redis.call('HSET', sizes, id, #record .. '|' .. owner)
add('bytes', grows)
redis.call('PUBLISH', ARGV[7], id)
return 'stored'
