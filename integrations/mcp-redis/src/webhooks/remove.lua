-- Removes a subscription. Returns 1 if there was one. ARGV: id.
forget(ARGV[1])
return redis.call('DEL', webhook)
