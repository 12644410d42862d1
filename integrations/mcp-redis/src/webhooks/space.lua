-- Returns whether there is space for a new subscription: stored, full or owner.
-- ARGV: owner, maximum of subscriptions, of those of one owner.
return refusal(ARGV[1], expired(now()), ARGV[2], ARGV[3]) or 'stored'
