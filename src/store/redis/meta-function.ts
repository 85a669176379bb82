/**
 * Replaces a store's meta record, as a Redis function. SET alone would overwrite a record that another node has written
 * meanwhile.
 *
 *   keys   meta
 *   args   expected record, new record
 *   reply  1 done, 0 the record differs or is missing
 */
export const META_FUNCTION_NAME = 'walletd_meta_1';

export const META_LIBRARY = `#!lua name=${META_FUNCTION_NAME}
redis.register_function('${META_FUNCTION_NAME}', function(keys, args)
  if #keys == 0 or redis.call('GET', keys[1]) ~= args[1] then return 0 end
  redis.call('SET', keys[1], args[2])
  return 1
end)
`;
