-- Appends an event, publishes the name of its type, and returns its cursor. A repeated event returns the
-- cursor of the first attempt.
-- KEYS[3]: the mark of the event. ARGV: event id, time, payload, epoch of a new log, time of the mark, name,
-- channel, and the limits.
local mark = KEYS[3]
local seen = redis.call('GET', mark)
if seen then return seen end

local epoch, last, floor = state()
local exists = redis.call('EXISTS', log) == 1
-- Without its hash, the events of the stream have no epoch.
if exists and not epoch then redis.call('DEL', log) end
-- No other write comes before XADD: after one, Redis lets a script use more than the maximum memory.
local id = redis.call('XADD', log, '*', 'i', ARGV[1], 't', ARGV[2], 'd', ARGV[3])
if epoch and not exists then redis.call('HSET', meta, 'floor', floor, 'bytes', 0) end
-- The clock of Redis was set back, and the events with the later ids are gone.
if not epoch or not is_after(id, last) then
  epoch = ARGV[4]
  redis.call('DEL', meta)
  redis.call('HSET', meta, 'epoch', epoch)
end
redis.call('HSET', meta, 'last', id)
redis.call('HINCRBY', meta, 'bytes', #ARGV[3])
local cursor = epoch .. '-' .. id
redis.call('SET', mark, cursor, 'PX', ARGV[5])
trim(tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10]), forget)
redis.call('PEXPIRE', log, ARGV[10])
redis.call('PUBLISH', ARGV[7], ARGV[6])
return cursor
