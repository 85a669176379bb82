import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { isOutage } from '../base/outage-error.js';
import type { MemberRecord, MembershipRegistry } from '../cluster/table.js';
import { Watch } from '../cluster/watch.js';

/** Half of a member's heartbeat interval. */
const LOOK_MS = 100;
const CONNECT_MS = 500;
/** A store that has just been opened may be busy for a moment, which must not make the start fail. */
const OUTAGE_MAX_MS = 10_000;

/**
 * Members that pass the filter and whose heartbeats advance. Peers detect a dead member in the same way; see `Watch`.
 * Empty if the store has no membership registry. Rejects if the registry cannot be read for ten seconds.
 */
export async function livingMembers(
  table: MembershipRegistry | undefined,
  isAskedAbout: (member: MemberRecord) => boolean,
): Promise<readonly MemberRecord[]> {
  if (table === undefined) return [];
  const watch = new Watch();
  const called = new Set<string>();
  for (;;) {
    const { beats, view } = await readWithRetry(table);
    const nowMs = performance.now();
    watch.heartbeatsRead(beats, nowMs);
    // Members may have joined in the meantime.
    const asked = [...view.members].filter(([, member]) => isAskedAbout(member));
    for (const [tag, { host, port }] of asked) {
      if (called.has(tag)) continue;
      called.add(tag);
      isRefused(host, port)
        .then((isGone) => isGone && watch.refused(tag))
        .catch(() => {});
    }
    if (asked.every(([tag]) => watch.hasLived(tag) || watch.isGone(tag, nowMs))) {
      return asked.filter(([tag]) => watch.hasLived(tag)).map(([, member]) => member);
    }
    await delay(LOOK_MS);
  }
}

async function readWithRetry(table: MembershipRegistry): Promise<Awaited<ReturnType<MembershipRegistry['read']>>> {
  for (const endMs = performance.now() + OUTAGE_MAX_MS; ; await delay(LOOK_MS)) {
    try {
      return await table.read();
    } catch (error) {
      if (!isOutage(error) || performance.now() >= endMs) throw error;
    }
  }
}

/** True if the machine refuses the connection because the port is closed. */
async function isRefused(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port, timeout: CONNECT_MS });
  try {
    return await new Promise((resolve) => {
      socket.once('connect', () => resolve(false));
      socket.once('timeout', () => resolve(false));
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
    });
  } finally {
    socket.destroy();
  }
}
