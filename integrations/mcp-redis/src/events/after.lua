-- Returns the first events of an MCP stream from an id on, or nil for an unknown stream:
-- base, floor, 1 if the stream has ended, 1 if there are more events, and the events.
local name, from, page = ARGV[1], ARGV[2], tonumber(ARGV[3])
trim(tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), forget)
local count, floor, over = read(name)
if not count then return nil end

local events, bytes, more = {}, 0, ''
while more == '' do
  local part = redis.call('XRANGE', log, from, '+', 'COUNT', 64)
  for _, entry in ipairs(part) do
    local fields = entry[2]
    if fields[2] == name then
      bytes = bytes + #fields[4] + 40
      if bytes > page and #events > 0 then
        more = '1'
        break
      end
      events[#events + 1] = { entry[1], fields[4], fields[6] }
    end
  end
  if #part < 64 then break end
  local time, number = part[#part][1]:match('^(%d+)-(%d+)$')
  from = string.format('%s-%d', time, number + 1)
end
return { redis.call('HGET', meta, 'base') or '', floor, over, more, events }
