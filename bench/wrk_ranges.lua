-- For wrk: asks a web server for the shuffle bench's blocks as ranges of its files, one request a connection at a time,
-- and prints what bench_http_range_client prints. Arguments behind "--": FILES BLOCKS BYTES_A_BLOCK.
local requests, at = {}, 0
local a_thread  -- of wrk's: done() runs outside of them

function setup(thread)
  a_thread = thread
end

function init(args)
  local files, blocks = tonumber(args[1]), tonumber(args[2])
  block = tonumber(args[3])
  for index = 0, blocks - 1 do  -- one block of every file, then the next
    for file = 0, files - 1 do
      local range = string.format("bytes=%d-%d", index * block, (index + 1) * block - 1)
      requests[#requests + 1] = wrk.format("GET", "/map" .. file, { Range = range })
    end
  end
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary)
  local errors = summary.errors
  assert(errors.status + errors.connect + errors.read + errors.write + errors.timeout == 0, "a request failed")
  local seconds, block = summary.duration / 1e6, a_thread:get("block")
  io.write(string.format('{"blocks":%d,"bytes":%d,"seconds":%.3f,"blocks_per_s":%.0f,"gb_per_s":%.3f}\n',
    summary.requests, summary.requests * block, seconds, summary.requests / seconds,
    summary.requests * block / seconds / 1e9))
end
