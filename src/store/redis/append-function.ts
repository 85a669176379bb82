/**
 * The compare-and-set of heads, as a Redis function that takes all logs of a flush in one call. The call is atomic,
 * even against other owners. Redis answers it like any write: with `appendfsync always`, after the fsync.
 *
 *   keys   for each shard: its head, its log
 *   args   'all' or 'each', 'confirm' or '', then for each shard: expected head, head after, number of entries, and id and
 *          bytes of each entry
 *   reply  for each shard: {'ok'}, {'duplicate'}, {'conflict', head found} or {'failed', why}
 *
 * With 'all', the function writes nothing unless every head is the expected one; otherwise each reply is the head that
 * was found.
 *
 * The head is written first, and restored if an entry cannot be written. A user without the right to write heads
 * therefore never leaves an entry that no head refers to. Only the very first entry may create the log, so that a lost
 * log does not restart in its middle. A takeover ('all') does create it: the recovery that follows then stops only that
 * shard.
 *
 * If nothing is written, 'confirm' makes the function rewrite the head unchanged. WAIT waits for the last write of its
 * own connection; without a write it would report that all replicas are up to date. After a 'duplicate' the head is
 * always rewritten: Redis may have stopped between the write and its fsync, and the rewrite causes a new fsync.
 *
 * The name contains a version. A newer walletd adds a new name and leaves this function to older callers.
 */
export const APPEND_FUNCTION_NAME = 'walletd_append_2';
const LIBRARY_NAME = 'walletd_2';

export const APPEND_LIBRARY = `#!lua name=${LIBRARY_NAME}
local function add(log, mayBegin, entries, first, last)
  for i = first, last, 2 do
    local added
    if mayBegin then
      added = redis.pcall('XADD', log, entries[i], 'e', entries[i + 1])
    else
      added = redis.pcall('XADD', log, 'NOMKSTREAM', entries[i], 'e', entries[i + 1])
    end
    if not added then return 'the log is gone: ' .. log end
    if type(added) == 'table' and added.err then return added.err end
  end
end

local function is_genesis(head)
  return string.sub(head, 5, 12) == string.rep('\\0', 8)
end

local function conflicts(keys, args)
  local results = {}
  local isAny = false
  local at = 3
  for i = 1, #keys, 2 do
    local found = redis.call('GET', keys[i])
    isAny = isAny or found ~= args[at]
    results[#results + 1] = {'conflict', found or ''}
    at = at + 3 + 2 * tonumber(args[at + 2])
  end
  return isAny and results or nil
end

local function append(keys, args)
  if args[1] == 'all' then
    local found = conflicts(keys, args)
    if found then return found end
  end
  local confirm = args[2] == 'confirm'
  local results = {}
  local at = 3
  for i = 1, #keys, 2 do
    local expected, after, count = args[at], args[at + 1], tonumber(args[at + 2])
    local first, last = at + 3, at + 2 + 2 * count
    at = last + 1
    local found = redis.call('GET', keys[i])
    local result
    local wanted = confirm and found
    if found == expected then
      result = {'ok'}
      if count > 0 then
        redis.call('SET', keys[i], after)
        wanted = nil
        local mayBegin = args[1] == 'all' or is_genesis(expected)
        local failure = add(keys[i + 1], mayBegin, args, first, last)
        if failure then
          result = {'failed', failure}
          wanted = found
        end
      end
    elseif found == after then
      result = {'duplicate'}
      wanted = found
    else
      result = {'conflict', found or ''}
    end
    if wanted then redis.call('SET', keys[i], wanted) end
    results[#results + 1] = result
  end
  return results
end

redis.register_function('${APPEND_FUNCTION_NAME}', append)
`;
