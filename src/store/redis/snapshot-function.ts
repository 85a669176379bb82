/**
 * Two Redis functions for one shard's snapshots: one for writes, and one for removals, which free memory. Each runs
 * only if the calling owner appended the log's newest entry. Deletions also require that the kept snapshots exist. A
 * full Redis still runs the second function; otherwise an unfinished snapshot would block appends.
 *
 *   keys   head, manifests of the shard, and the object of the command: chunks of the snapshot, or log
 *   args   command, nonce (8 bytes), number of kept snapshots, each one's id and manifest, then
 *            begin     id                                       (these three: the first function)
 *            chunk     id, index, bytes
 *            publish   id, manifest, minimum number of chunks
 *            delete    id                                       (these two: the second one)
 *            trim      epoch and sequence of the first entry to keep, maximum number of entries to remove
 *   reply  0 refused, 1 done, 2 done and there is more to trim
 *
 * A manifest is empty while its snapshot is unfinished. A failover can lose chunks but keep the manifest, so the
 * function compares the number of chunks before the manifest completes the snapshot.
 *
 * With `~`, XTRIM removes only whole stream nodes: it never rewrites a node, and may leave up to one node too many. It
 * never removes a node with more entries than the limit, as after `stream-node-max-entries` was raised; the function
 * then calls XTRIM with a larger limit. Ids are also compared by sequence, so that an epoch that the log never had
 * removes nothing. If a deletion finds nothing, the function rewrites the head unchanged, because WAIT needs a write on
 * its own connection to wait for.
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
