/*
 * A wallet in Redis as two atomic Lua scripts, written in the most obvious way. Amounts are in whole units.
 *
 *   KEYS[1]   hash of the player    currency, balance
 *   KEYS[2]   hash of the bet       stake, placedBefore, placedAfter, payout, settledBefore, settledAfter
 *   reply     {0, before, after} or {statusCode}
 *
 * A repeat gets the first answer, which is stored in the bet's hash.
 */
const PLAYER = `
local currency, balance = unpack(redis.call('HMGET', KEYS[1], 'currency', 'balance'))
if not currency then return {10001} end
if currency ~= ARGV[1] then return {40003} end
balance = tonumber(balance)
`;

/** ARGV: currency, stake, round. */
export const PLACE_BET = `${PLAYER}
local stake, round, before, after = unpack(redis.call('HMGET', KEYS[2], 'stake', 'round', 'placedBefore', 'placedAfter'))
if stake then
  if stake ~= ARGV[2] or round ~= ARGV[3] then return {20002} end
  return {0, tonumber(before), tonumber(after)}
end
if balance < tonumber(ARGV[2]) then return {10002} end
after = redis.call('HINCRBY', KEYS[1], 'balance', '-' .. ARGV[2])
redis.call('HSET', KEYS[2], 'stake', ARGV[2], 'round', ARGV[3], 'placedBefore', balance, 'placedAfter', after)
return {0, balance, after}
`;

/** ARGV: currency, payout. */
export const SETTLE_BET = `${PLAYER}
local stake, payout, before, after = unpack(redis.call('HMGET', KEYS[2], 'stake', 'payout', 'settledBefore', 'settledAfter'))
if not stake then return {20001} end
if payout then
  if payout ~= ARGV[2] then return {20004} end
  return {0, tonumber(before), tonumber(after)}
end
after = redis.call('HINCRBY', KEYS[1], 'balance', ARGV[2])
redis.call('HSET', KEYS[2], 'payout', ARGV[2], 'settledBefore', balance, 'settledAfter', after)
return {0, balance, after}
`;
