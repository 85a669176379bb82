import type { TargetStore } from '../copy-ports.js';

/**
 * A target that stores nothing. A restore into it makes all checks of a real restore and reports the same result.
 * `hasArchive` is true if closed rounds would have an archive.
 */
export function dryTarget(hasArchive: boolean): TargetStore {
  return {
    openArchive: async () =>
      hasArchive ? { put: async () => {}, raiseMark: async () => {}, days: async () => [] } : undefined,
    append: async (appends) => appends.map(() => ({ type: 'ok' })),
    read: async () => [],
    snapshots: async () => [],
    beginSnapshot: async () => true,
    writeChunk: async () => true,
    publishSnapshot: async () => true,
    deleteSnapshot: async () => true,
    createIncomplete: async () => true,
    complete: async () => {},
  };
}
