import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../base/clock.js';
import { isConfirmedOn } from '../../base/confirmed-on.js';
import type { ClusterNode } from '../../cluster/cluster-node.js';
import { ConfigError } from '../../config/config-error.js';
import type { Settings } from '../../config/schema.js';
import { takeOver } from '../../log/take-over.js';
import { RecoveryError } from '../../ports/recovery-error.js';
import { ATTEMPTS_AT_START, isPermanent } from '../../ports/retry-policy.js';
import type { Takeover } from '../../ports/wal.js';
import { EntryCodec } from '../../store/format/entry-codec.js';
import type { Shards } from '../../threads/shards.js';
import { shardsOf } from '../../tools/store-reader.js';
import { hasArchive } from '../drivers/open-archive.js';
import type { OpenStore } from '../drivers/open-store.js';
import { StoreError } from '../drivers/store-error.js';
import { newNonceOf } from '../folder/identity.js';
import { livingMembers } from '../jobs/living-members.js';
import { describeCallers } from '../settings/callers.js';
import { describeListeners } from '../settings/describe-listeners.js';
import { handWarnings } from '../settings/hand-warning.js';
import { effectiveHeapMaxBytes, memoryShare, workerCount } from '../settings/heap.js';
import { urlOf } from '../settings/listener-url.js';
import { nameOf } from './make-cluster.js';
import type { Parts } from './parts.js';
import { refuseOtherArchive } from './refuse-other-archive.js';

const READY_POLL_MS = 50;

/** Starts all shards, or those that the cluster assigns to this node. */
export async function startShards(parts: Parts, isStopping: () => boolean): Promise<void> {
  const { cluster } = parts;
  if (cluster === undefined) await startAlone(parts);
  else await startWithOthers(parts, cluster, isStopping);
}

/**
 * Takes over the store and recovers all shards. Resolves once each shard either serves or has stopped. Throws if none
 * serves.
 */
async function startAlone(parts: Parts): Promise<void> {
  const { opened, shards, recorder, lastRun } = parts;
  await refuseBesideCluster(opened);
  const { fences, foundMs } = await takeStoreOver(parts);
  lastRun.begin();
  await shards.start(fences).catch(asStoreProblem('recover from', opened.name));
  mustServe(shards);
  parts.timeKeeper.start(foundMs);
  await recorder.write();
  void logStoreWarnings(parts).finally(() => opened.store.close());
}

/** Joins the cluster. Resolves once this node can execute callbacks or forward them. */
async function startWithOthers(parts: Parts, cluster: ClusterNode, isStopping: () => boolean): Promise<void> {
  const { opened, shards, lastRun, settings } = parts;
  await opened.store.mayBeShared().catch(asStoreProblem('share', opened.name));
  await refuseSameName(settings, opened);
  await refuseOtherArchive(settings, opened);
  await shards.start([]).catch(asStoreProblem('open', opened.name));
  lastRun.begin();
  await cluster.start();
  while (!cluster.isReady && !isStopping()) await delay(READY_POLL_MS);
  parts.timeKeeper.start();
  void logStoreWarnings(parts);
}

/**
 * Refuses to start without cluster settings while a cluster is running on the store. Otherwise, this node would take
 * over all shards, and the cluster's nodes would stop serving.
 */
async function refuseBesideCluster({ store, name }: OpenStore): Promise<void> {
  const living = await livingMembers(store.table, () => true);
  if (living.length === 0) return;
  const names = living.map((member) => member.name).sort();
  throw new StoreError(
    `${names.join(', ')} share the store ${name}: set cluster.port to join them, or stop them all first`,
  );
}

/**
 * Refuses to start while a node with the same name is alive. At a restart, the previous process has exited or is about
 * to exit.
 */
async function refuseSameName(settings: Settings, { store }: OpenStore): Promise<void> {
  const name = nameOf(settings);
  const namesakes = await livingMembers(store.table, (member) => member.name === name);
  const twin = namesakes.find(({ isLeaving }) => !isLeaving);
  if (twin === undefined) return;
  throw new ConfigError(
    `another node at ${twin.host}:${twin.port} has the name ${name}: give this node a different name (cluster.name)`,
  );
}

/** Startup does not wait for this, because a replica may be unresponsive. */
async function logStoreWarnings({ opened, log }: Parts): Promise<void> {
  const warnings = await opened.store.warnings().catch(() => []);
  for (const warning of warnings)
    log.warn({ code: 'store-misconfigured', store: opened.name, reason: warning }, 'store is misconfigured');
}

interface TakenStore {
  readonly fences: readonly Takeover[];
  /** The newest time in the logs before this start wrote its fences; 0 if the logs were empty. */
  readonly foundMs: number;
}

async function takeStoreOver({ log, identity, opened, settings }: Parts): Promise<TakenStore> {
  const { store, meta, name } = opened;
  const { owner, ownerTag } = identity;
  let foundMs = 0;
  const fences = await takeOver(shardsOf(meta), {
    wal: store.wal,
    format: new EntryCodec(meta.storeId),
    clock: systemClock,
    log,
    owner,
    newNonce: () => newNonceOf(ownerTag),
    isClockConfirmed: (nowMs) => isConfirmedOn(settings.clock.confirmedOn, nowMs),
    onFound: (newestMs) => {
      foundMs = Math.max(foundMs, newestMs);
    },
    delay,
    attemptsMax: ATTEMPTS_AT_START,
  }).catch(asStoreProblem('take over', name));
  const epochs = fences.map(({ entry }) => entry.head.lsn.epoch);
  log.info({ store: name, shards: fences.length, epoch: Math.max(...epochs) }, 'store fenced, this process owns it');
  return { fences, foundMs };
}

/**
 * For use in `catch`. Turns a transient store error into a readable message about the store, and throws any other error
 * again.
 */
function asStoreProblem(what: string, name: string): (error: Error) => never {
  return (error) => {
    throw isPermanent(error) ? error : new StoreError(`cannot ${what} the store ${name}: ${error.message}`);
  };
}

/** Another process took the store over while this one started. */
class TakenOverError extends RecoveryError {
  override readonly name = 'TakenOverError';
  override readonly ending = 'fenced';
}

/** A shard that has stopped does not prevent the others from serving. */
function mustServe(shards: Shards): void {
  const status = shards.status();
  const [first] = status;
  if (first === undefined || status.some(({ state }) => state === 'serving')) return;
  const fenced = status.find(({ state }) => state === 'fenced');
  if (fenced !== undefined) throw new TakenOverError(fenced.reason ?? 'another process has taken the store over');
  throw new RecoveryError(first.reason ?? 'no shard could be recovered');
}

export interface Ports {
  readonly callbackPort: number;
  readonly adminPort: number;
}

/** Memory that a closed bet takes, including its round, as measured with `bench memory`. */
const CLOSED_BET_BYTES = 200;
const HOUR_SECONDS = 3600;
/** Number of closed bets per second in the warning's example. */
const EXAMPLE_RATE = 100;

/** Warns at startup that closed rounds will fill the memory, so that operators do not find out only when it is full. */
export function warnWithoutArchive({ settings, log }: Pick<Parts, 'settings' | 'log'>): void {
  if (hasArchive(settings)) return;
  const bytesPerHour = CLOSED_BET_BYTES * EXAMPLE_RATE * HOUR_SECONDS;
  const hours = Math.round(memoryShare(settings).recordsMaxBytes / bytesPerHour);
  log.warn(
    { code: 'archive-not-configured', hoursAt100ClosedBetsPerSecond: hours, page: 'docs/archive.md' },
    'no archive is configured, closed rounds stay in memory',
  );
}

export function logReady(parts: Parts, { callbackPort, adminPort }: Ports): void {
  const { settings, log, opened, identity, shards, health } = parts;
  const listeners = describeListeners(settings, { callbackPort, adminPort, healthPort: health?.port });
  for (const listener of listeners) log.info(listener, 'listener open');
  for (const { code, says, todo } of handWarnings(settings)) {
    log.warn({ code, why: says, todo }, 'money by hand has no safeguards');
  }
  log.info(
    {
      callbacks: urlOf(settings.host, callbackPort, settings.tls),
      operatorApi: urlOf(settings.admin.host, adminPort, settings.admin.tls),
      console: `${urlOf(settings.admin.host, adminPort, settings.admin.tls)}/console/`,
      ...(health !== undefined && { health: `http://${settings.health.host}:${health.port}` }),
      callers: describeCallers(settings),
      store: opened.name,
      durability: opened.durability,
      shards: opened.meta.shards,
      workers: workerCount(settings),
      players: shards.status().reduce((sum, shard) => sum + shard.players, 0),
      heapMaxBytes: effectiveHeapMaxBytes(settings),
      recordsMaxBytes: memoryShare(settings).recordsMaxBytes,
      pid: process.pid,
      tookMs: systemClock.now() - identity.owner.startedMs,
    },
    'walletd is ready',
  );
  warnWithoutArchive(parts);
}
