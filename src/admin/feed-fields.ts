import { string } from '../base/json-schema.js';

export const EVENTS_MAX = 1000;
/** Length of a position of 1,024 shards, rounded up. */
export const POSITION_LENGTH_MAX = 60_000;

/** The name of a feed. */
export const feedName = string({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
  message: 'must be 1 to 64 letters, digits, dots, hyphens or underscores, and begin with a letter or digit',
});

/** The position at which a read begins. */
export const readAfter = string({
  maxLength: POSITION_LENGTH_MAX,
  description: '`next` of an earlier page. Omitted: the acknowledged position.',
  message: 'must come once, and be the `next` of an earlier page',
});
