-- Returns the cursor of the newest event, or the one before the first event. ARGV: epoch of a new log.
local epoch, last = state()
if not epoch then
  epoch = ARGV[1]
  redis.call('HSET', meta, 'epoch', epoch)
end
return epoch .. '-' .. last
