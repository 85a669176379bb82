import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../base/clock.js';
import { silentLogger } from '../../base/logger.js';
import { Watch } from '../../cluster/watch.js';
import type { MemberRecord, MembershipRegistry } from '../../ports/table.js';
import { waitForStore } from '../drivers/wait-for-store.js';

/** Interval at which the registry is read: half of a member's heartbeat interval. */
const LOOK_MS = 100;
const CONNECT_MS = 500;
/** A store that has just been opened may be busy for a moment. This must not make the start fail. */
const BUSY_STORE = { waitMs: 10_000, clock: systemClock, log: silentLogger };

/**
 * Members that pass the filter and whose heartbeats advance. Other members recognize a dead member in the same way; see
 * `Watch`. Empty if the store has no membership registry. Rejects if the registry cannot be read for ten seconds.
 */
export async function livingMembers(
  table: MembershipRegistry | undefined,
  isAskedAbout: (member: MemberRecord) => boolean,
): Promise<readonly MemberRecord[]> {
  if (table === undefined) return [];
  const watch = new Watch([]);
  const called = new Set<string>();
  for (;;) {
    const { heartbeats, view } = await waitForStore(() => table.read(), BUSY_STORE);
    const nowMs = performance.now();
    watch.heartbeatsRead(heartbeats, nowMs);
    // More members may have joined since the last read.
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
