-- Stores the progress of a subscription. Returns 1 if the node holds its lease. ARGV: id, node, progress.
if holder(ARGV[1], now()) ~= ARGV[2] or redis.call('EXISTS', webhook) == 0 then return 0 end
redis.call('HSET', webhook, 'p', ARGV[3])
return 1
