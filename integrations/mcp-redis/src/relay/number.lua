-- Returns a number that is larger than each earlier one, also after Redis has lost its data: at least the
-- time in microseconds.
local time = redis.call('TIME')
local number = math.max(time[1] * 1000000 + time[2], (redis.call('GET', KEYS[1]) or 0) + 1)
local text = string.format('%.0f', number)
redis.call('SET', KEYS[1], text)
return text
