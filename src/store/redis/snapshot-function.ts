/**
 * Writes to the snapshots of one shard, and what gives room back, as two functions of Redis: each is made only when the newest
 * entry of the log is by the owner that makes it, and deletions only when the snapshots that are kept are there. A Redis that
 * is full runs the second one all the same: what it holds of an unfinished snapshot would keep the log from growing.
 *
 *   keys   head, manifests of the shard, and what the verb is about: chunks of the snapshot, or log
 *   args   verb, nonce (8 bytes), number of kept snapshots, id and manifest of each, then
 *            begin     id                                       (these three: the first function)
 *            chunk     id, index, bytes
 *            publish   id, manifest, least number of chunks
 *            delete    id                                       (these two: the second one)
 *            trim      epoch and sequence of the first entry to stay, most entries to remove
 *   reply  0 refused, 1 done, 2 done and there is more to trim
 *
 * A manifest is empty while its snapshot is unfinished. A failover can lose chunks and leave that; therefore their number
 * is compared before the manifest makes the snapshot whole.
 *
 * XTRIM removes whole nodes of the stream only, as `~` says: it never rewrites one, and leaves up to a node too much. It
 * removes none that has more entries than the limit, as where `stream-node-max-entries` was raised; then it is asked with
 * a larger one.
 * Ids are compared by sequence as well, so that an epoch that the log never had removes nothing. A deletion that finds
 * nothing writes the head again as it is: WAIT waits for the last write of its connection, and there has to be one.
 */
export const SNAPSHOT_FUNCTION_NAME = 'walletd_snapshot_3';
export const ROOM_FUNCTION_NAME = 'walletd_room_3';

export const SNAPSHOT_LIBRARY = `#!lua name=${SNAPSHOT_FUNCTION_NAME}
local function sequence_of(entry)
  return tonumber(string.match(entry[1], '%d+$'))
end

local writes = {}
local removals = {}

function writes.begin(keys, head, id)
  local manifest = redis.call('HGET', keys[2], id)
  if manifest and manifest ~= '' then return 0 end
  redis.call('HSET', keys[2], id, '')
  return 1
end

function writes.chunk(keys, head, id, index, bytes)
  if redis.call('HGET', keys[2], id) ~= '' then return 0 end
  redis.call('HSET', keys[3], index, bytes)
  return 1
end

function writes.publish(keys, head, id, manifest, chunks)
  local found = redis.call('HGET', keys[2], id)
  if found == '' then
    if redis.call('HLEN', keys[3]) < tonumber(chunks) then return 0 end
  elseif found ~= manifest then
    return 0
  end
  redis.call('HSET', keys[2], id, manifest)
  return 1
end

function removals.delete(keys, head, id)
  local removed = redis.call('UNLINK', keys[3]) + redis.call('HDEL', keys[2], id)
  if removed == 0 then redis.call('SET', keys[1], head) end
  return 1
end

function removals.trim(keys, head, epoch, sequence, limit)
  local newest = redis.call('XREVRANGE', keys[3], '+', '-', 'COUNT', 1)[1]
  if not newest then return 1 end
  local first = epoch .. '-' .. sequence
  if tonumber(sequence) > sequence_of(newest) then first = newest[1] end
  local last = redis.call('XREVRANGE', keys[3], '(' .. first, '-', 'COUNT', 1)[1]
  if not last or sequence_of(last) >= tonumber(sequence) then return 1 end
  local removed = redis.call('XTRIM', keys[3], 'MINID', '~', first, 'LIMIT', limit)
  if removed == 0 then removed = redis.call('XTRIM', keys[3], 'MINID', '~', first, 'LIMIT', 100 * limit) end
  return removed > 0 and 2 or 1
end

local function carry_out(verbs, keys, args)
  if #keys == 0 then return 0 end
  local head = redis.call('GET', keys[1])
  if not head or string.sub(head, 13, 20) ~= args[2] then return 0 end
  local kept = tonumber(args[3])
  for i = 4, 2 + 2 * kept, 2 do
    if redis.call('HGET', keys[2], args[i]) ~= args[i + 1] then return 0 end
  end
  return verbs[args[1]](keys, head, unpack(args, 4 + 2 * kept))
end

redis.register_function('${SNAPSHOT_FUNCTION_NAME}', function(keys, args)
  return carry_out(writes, keys, args)
end)

redis.register_function({
  function_name = '${ROOM_FUNCTION_NAME}',
  callback = function(keys, args) return carry_out(removals, keys, args) end,
  flags = {'allow-oom'}
})
`;
