-- Returns the events after a cursor: epoch, 1 if events before them are dropped, 1 if there are more, and the
-- events. ARGV: epoch and id of the cursor, number of events, size of the payloads, and the limits.
local limit, page = tonumber(ARGV[3]), tonumber(ARGV[4])
trim(tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), forget)
local epoch, last, floor = state()
local from, truncated = '-', '1'
local id = ARGV[2]
if epoch and epoch == ARGV[1] then
  local is_known = id == floor or #redis.call('XRANGE', log, id, id) == 1
  if is_known then
    local time, number = id:match('^(%d+)-(%d+)$')
    from, truncated = string.format('%s-%d', time, number + 1), ''
  end
end

local events, bytes, more = {}, 0, ''
while more == '' do
  local part = redis.call('XRANGE', log, from, '+', 'COUNT', 16)
  for _, entry in ipairs(part) do
    local fields = entry[2]
    bytes = bytes + #fields[6]
    if #events >= limit or (bytes > page and #events > 0) then
      more = '1'
      break
    end
    events[#events + 1] = { entry[1], fields[2], fields[4], fields[6] }
  end
  if #part < 16 then break end
  local time, number = part[#part][1]:match('^(%d+)-(%d+)$')
  from = string.format('%s-%d', time, number + 1)
end
return { epoch or '', truncated, more, events }
