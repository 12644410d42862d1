-- Appends an event and returns its id. A repeated nonce returns the id of the first attempt.
local name, text, last, nonce = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local max_events, max_bytes, max_age = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])

-- Redis has evicted or lost the events: the hash no longer describes them. No other write comes before
-- XADD: after one, Redis lets a script use more than the maximum memory.
if redis.call('EXISTS', log) == 0 and redis.call('EXISTS', meta) == 1 then redis.call('DEL', meta) end

local count, floor, _, seen, newest = read(name)
if count and seen == nonce then return newest end

local id = redis.call('XADD', log, '*', 's', name, 't', text, 'l', last)
if redis.call('HEXISTS', meta, 'base') == 0 then
  local time, number = id:match('^(%d+)-(%d+)$')
  if number == '0' then
    -- 2^20 - 1 is the largest number within one millisecond.
    redis.call('HSET', meta, 'base', string.format('%.0f-1048575', time - 1))
  else
    redis.call('HSET', meta, 'base', string.format('%s-%d', time, number - 1))
  end
end
if not count then count, floor = 0, redis.call('HGET', meta, 'floor') or '' end
write(name, count + 1, floor, last, nonce, id)
redis.call('HINCRBY', meta, 'bytes', #text)
trim(max_events, max_bytes, max_age, forget)
redis.call('PEXPIRE', log, max_age)
redis.call('PEXPIRE', meta, max_age)
return id
