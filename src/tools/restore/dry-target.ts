import type { TargetStore } from '../copy-ports.js';

/**
 * Target that stores nothing. A restore into it makes every check and reports the same result as a real restore.
 * `hasArchive` determines whether closed rounds would have an archive.
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
