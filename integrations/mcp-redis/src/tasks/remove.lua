-- Removes a task. ARGV: id, channel.
redis.call('DEL', task)
forget(ARGV[1])
redis.call('PUBLISH', ARGV[2], ARGV[1])
return 'gone'
