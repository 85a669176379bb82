import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../base/clock.js';
import type { ClusterNode } from '../../cluster/cluster-node.js';
import type { Shards } from '../../threads/shards.js';
import type { Parts } from './parts.js';

/**
 * Time limit for pending answers. Together with the time to close everything, a stop takes less than the 5 s stated in
 * the docs.
 */
const DRAIN_MS = 3000;
/**
 * Deadline of the final snapshots, in ms after the start of the stop. A snapshot that is not finished by then is
 * abandoned, because the log contains everything.
 */
const SNAPSHOTS_UNTIL_MS = 3500;
const POLL_MS = 5;
/** The time within which load balancers notice that this node is not ready. */
const NOTICED_MS = 5000;
const CONNECTIONS_POLL_MS = 50;

/**
 * Answers pending requests, refuses new ones, and closes everything. Also works during a start, when only some shards
 * serve. Resolves to false if the store did not respond, so that some outcomes are unknown.
 */
export async function stopParts(parts: Parts): Promise<boolean> {
  const { log, service, shards, cluster, callbacks, admin, verifier, health, recorder, timeKeeper, tracer } = parts;
  service.isServing = false;
  if (cluster !== undefined) await giveAway(parts, cluster);
  const startedMs = systemClock.monotonicMs();
  callbacks.stopListening();
  admin.drain();
  const verified = verifier.stop();
  const drained = await shards.drain(DRAIN_MS);
  // Wait at least once, because requests that were sent before the stop may not have been read yet.
  do await delay(POLL_MS);
  while (callbacks.inFlight + admin.inFlight > 0 && systemClock.monotonicMs() < startedMs + DRAIN_MS);
  const isAnswered = drained && callbacks.inFlight + admin.inFlight === 0;
  callbacks.close();
  await admin.close();
  // An unreachable store may come back without its newest entries, for example because a replica was promoted. Only
  // this process still has these entries, so save them to files.
  const kept = shards.keepOrphans();
  if (drained) await takeLastSnapshots(shards, startedMs + SNAPSHOTS_UNTIL_MS - systemClock.monotonicMs());
  await cluster?.leave();
  if (cluster !== undefined) await parts.opened.store.close();
  await kept;
  await verified;
  recorder.stop();
  await recorder.write();
  timeKeeper.stop();
  await shards.close();
  parts.lock?.release();
  await tracer?.close();
  await health?.close();
  const tookMs = Math.round(systemClock.monotonicMs() - startedMs);
  if (isAnswered) log.info({ tookMs }, 'stopped, all pending requests answered');
  else if (drained)
    log.warn({ code: 'stop-cut-requests', tookMs }, 'stopped, cut off requests that were still arriving');
  else log.warn({ code: 'stop-outcomes-unknown', tookMs }, 'stopped before the store answered, outcomes are unknown');
  return drained;
}

/**
 * Drains the node. Other nodes take over its shards, and each connection is closed after the next answer on it. Load
 * balancers need a while to notice that this node is not ready. Until then, and while connections are open, callbacks
 * are accepted and forwarded.
 */
async function giveAway({ settings, callbacks, log }: Parts, cluster: ClusterNode): Promise<void> {
  const startedMs = systemClock.monotonicMs();
  const endMs = startedMs + settings.cluster.drainSeconds * 1000;
  callbacks.closeGently();
  await cluster.giveAway(endMs - startedMs);
  const tookMs = Math.round(systemClock.monotonicMs() - startedMs);
  log.info({ tookMs, left: cluster.heldCount, isAlone: cluster.isAlone }, 'drain finished');
  if (cluster.isAlone) return;
  const noticedMs = Math.min(startedMs + NOTICED_MS, endMs);
  while (systemClock.monotonicMs() < noticedMs || (callbacks.connections > 0 && systemClock.monotonicMs() < endMs)) {
    await delay(CONNECTIONS_POLL_MS);
  }
}

/** Takes snapshots, so that the next start has little to replay. */
async function takeLastSnapshots(shards: Shards, timeMs: number): Promise<void> {
  const pace = { restMs: 0, deadlineMs: systemClock.monotonicMs() + timeMs };
  await Promise.race([shards.takeSnapshots(pace), delay(timeMs, undefined, { ref: false })]);
}

/** Cleans up after a failed start. */
export async function closeParts({
  opened,
  shards,
  cluster,
  callbacks,
  admin,
  verifier,
  health,
  recorder,
  timeKeeper,
  lock,
}: Parts): Promise<void> {
  recorder.stop();
  timeKeeper.stop();
  callbacks.close();
  await admin.close();
  await verifier.stop();
  await health?.close();
  await cluster?.leave();
  await shards.close();
  lock?.release();
  await opened.store.close();
}
