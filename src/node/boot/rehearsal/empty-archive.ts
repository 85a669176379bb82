import type { Archive } from '../../../ports/archive.js';

const END: IteratorReturnResult<undefined> = { done: true, value: undefined };
const NOTHING: AsyncIterable<never> = { [Symbol.asyncIterator]: () => ({ next: async () => END }) };

/**
 * An archive without records, for a rehearsal. No round becomes old enough to be put into it, but each new id is looked
 * up in its keys.
 */
export const EMPTY_ARCHIVE: Archive = {
  put: async () => {},
  mark: async () => undefined,
  raiseMark: async () => {},
  missingDays: async () => [],
  acceptLoss: async () => {},
  find: async () => [],
  list: async () => [],
  read: async () => [],
  days: async () => [],
  all: () => NOTHING,
  names: () => NOTHING,
  freshKeys: () => NOTHING,
  savedKeys: async () => new Map(),
  saveKeys: async () => {},
  dropBefore: async () => {},
  dropAfter: async () => {},
  serverMs: async () => undefined,
  room: async () => ({ usedBytes: 0 }),
  close: async () => {},
};
