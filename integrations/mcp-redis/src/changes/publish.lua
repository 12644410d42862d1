-- Numbers a change and publishes it. KEYS[1]: a hash with the random `epoch` of its creation and the
-- number `n` of the last change. ARGV: channel, epoch of a new hash, change.
local epoch = redis.call('HGET', KEYS[1], 'epoch')
if not epoch then
  epoch = ARGV[2]
  redis.call('HSET', KEYS[1], 'epoch', epoch)
end
local number = redis.call('HINCRBY', KEYS[1], 'n', 1)
redis.call('PUBLISH', ARGV[1], epoch .. ':' .. string.format('%d', number) .. ':' .. ARGV[3])
return number
