import { isOtherArchive, UNSEEN_ARCHIVE } from '../../cluster/archive-ids.js';
import { ConfigError } from '../../config/config-error.js';
import type { Settings } from '../../config/schema.js';
import type { MemberRecord } from '../../ports/table.js';
import type { OpenStore } from '../drivers/open-store.js';
import { livingMembers } from '../jobs/living-members.js';
import { archiveIdOf } from './make-cluster.js';

/**
 * Throws a `ConfigError` if a living cluster member uses a different archive from this node's, or if only one of the
 * two has an archive. That member could not take shards back from this node, because it would lack their closed rounds.
 */
export async function refuseOtherArchive(settings: Settings, { store, meta, name }: OpenStore): Promise<void> {
  const mine = archiveIdOf(settings, meta);
  const isOther = ({ archiveId }: MemberRecord) => isOtherArchive(archiveId, mine);
  const [other] = await livingMembers(store.table, isOther);
  if (other === undefined) return;
  throw new ConfigError(
    `node ${other.name} at ${other.host}:${other.port} has ${describe(other.archiveId)} of the store ${name}, but this node has ` +
      `${describe(mine)}: set WALLETD_ARCHIVE to the same database on all nodes; to begin with an archive, stop all nodes first`,
  );
}

function describe(archiveId: MemberRecord['archiveId']): string {
  if (typeof archiveId !== 'string') return 'no archive';
  return archiveId === UNSEEN_ARCHIVE ? 'an archive' : `the archive ${archiveId}`;
}
