import type { TargetStore } from '../copy-ports.js';

/**
 * A target that keeps nothing: a restore into it makes every check and reports the result of a real restore.
 * `hasArchive` says whether there would be an archive for closed rounds.
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
