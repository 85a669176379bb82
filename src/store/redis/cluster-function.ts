/**
 * A cluster's membership registry, as a Redis function.
 *
 *   keys   registry, heartbeats
 *   args   command, then
 *            join     tag, record, version
 *            `beat`   tag, heartbeat, version   the heartbeat counts up; the version is the one known to the caller
 *            plan     known version, plan, version, tags of members that are removed ...
 *            claim    shard, epoch, tag, version
 *            release  shard, epoch, tag, version
 *            drain    tag, '1' or '', version
 *            leave    tag, version
 *            read
 *   reply  1 done, 0 not; for `beat` the changes: { 'gone' }, { 'same', heartbeats }, { 'all', heartbeats, registry };
 *          for `read` { 'all', heartbeats, registry }
 *
 * `version` must be a text that was never used before, so that it differs after each change.
 */
export const CLUSTER_FUNCTION_NAME = 'walletd_cluster_1';

export const CLUSTER_LIBRARY = `#!lua name=${CLUSTER_FUNCTION_NAME}
local verbs = {}

local function all(keys)
  return { 'all', redis.call('HGETALL', keys[2]), redis.call('HGETALL', keys[1]) }
end

local function remove(keys, tag)
  redis.call('HDEL', keys[1], 'n:' .. tag, 'd:' .. tag)
  redis.call('HDEL', keys[2], tag)
end

function verbs.join(keys, tag, record, version)
  redis.call('HSET', keys[1], 'n:' .. tag, record, 'v', version)
  if not redis.call('HGET', keys[2], tag) then redis.call('HSET', keys[2], tag, version) end
  return 1
end

function verbs.beat(keys, tag, beat, version)
  if not redis.call('HGET', keys[1], 'n:' .. tag) then return { 'gone' } end
  redis.call('HSET', keys[2], tag, beat)
  if redis.call('HGET', keys[1], 'v') == version then return { 'same', redis.call('HGETALL', keys[2]) } end
  return all(keys)
end

function verbs.plan(keys, known, plan, version, ...)
  if redis.call('HGET', keys[1], 'v') ~= known then return 0 end
  for _, tag in ipairs({ ... }) do remove(keys, tag) end
  redis.call('HSET', keys[1], 'plan', plan, 'v', version)
  return 1
end

function verbs.claim(keys, shard, epoch, tag, version)
  local found = redis.call('HGET', keys[1], 'c:' .. shard)
  if found and tonumber(string.match(found, '^%d+')) >= tonumber(epoch) then return 0 end
  redis.call('HSET', keys[1], 'c:' .. shard, epoch .. ' ' .. tag, 'v', version)
  return 1
end

function verbs.release(keys, shard, epoch, tag, version)
  if redis.call('HGET', keys[1], 'c:' .. shard) ~= epoch .. ' ' .. tag then return 0 end
  redis.call('HSET', keys[1], 'c:' .. shard, epoch .. ' ', 'v', version)
  return 1
end

function verbs.drain(keys, tag, on, version)
  if not redis.call('HGET', keys[1], 'n:' .. tag) then return 0 end
  if on == '1' then redis.call('HSET', keys[1], 'd:' .. tag, on)
  else redis.call('HDEL', keys[1], 'd:' .. tag) end
  redis.call('HSET', keys[1], 'v', version)
  return 1
end

function verbs.leave(keys, tag, version)
  remove(keys, tag)
  redis.call('HSET', keys[1], 'v', version)
  return 1
end

function verbs.read(keys)
  return all(keys)
end

redis.register_function('${CLUSTER_FUNCTION_NAME}', function(keys, args)
  local verb = verbs[args[1]]
  if #keys == 0 or not verb then return 0 end
  return verb(keys, unpack(args, 2))
end)
`;
