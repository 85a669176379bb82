import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { addMissedTime, systemClock } from '../../base/clock.js';
import { decodeText } from '../../base/decode-text.js';
import type { Logger } from '../../base/logger.js';
import { messageOf } from '../../base/message-of.js';
import { systemTimers } from '../../base/timers.js';
import type { CallbackCodec } from '../../callback/callback-codec.js';
import { UNSEEN_ARCHIVE } from '../../cluster/archive-ids.js';
import { ClusterNode, type ClusterNodeDeps } from '../../cluster/cluster-node.js';
import type { OwnershipObserver } from '../../cluster/ownership.js';
import type { PeerAddress } from '../../cluster/peer-protocol.js';
import { ConfigError } from '../../config/config-error.js';
import type { Settings } from '../../config/schema.js';
import type { ConnectionCounts } from '../../listener/connection-counts.js';
import { type PeerTls, SocketLinks } from '../../peer/socket-links.js';
import type { Position } from '../../ports/wal.js';
import { STORE_FORMAT } from '../../store/format/format-gate.js';
import type { StoreMeta } from '../../store/meta.js';
import type { Shards } from '../../threads/shards.js';
import { hasArchive } from '../drivers/open-archive.js';
import type { OpenStore } from '../drivers/open-store.js';
import { StoreError } from '../drivers/store-error.js';
import type { Identity } from '../folder/identity.js';
import { rulesOf } from '../settings/rules.js';
import type { Tls } from '../settings/tls.js';
import { BUILD } from '../settings/version.js';

export interface ClusterDeps {
  readonly opened: OpenStore;
  readonly identity: Identity;
  readonly shards: Shards;
  readonly codec: CallbackCodec;
  readonly tls: Tls | undefined;
  readonly acknowledged: ReadonlyMap<number, Position>;
  readonly observer: OwnershipObserver;
  readonly signedOut: ClusterNodeDeps['signedOut'];
  readonly counts: ConnectionCounts;
  readonly onForeignOwners: (shard: number, takenBy: string) => void;
  readonly log: Logger;
}

/** True if several nodes share the shards. */
export function isShared({ cluster }: Pick<Settings, 'cluster'>): boolean {
  return cluster.port !== null;
}

/** Creates this node's part of the cluster, which does not listen yet; undefined if the node has no cluster. */
export function makeCluster(settings: Settings, deps: ClusterDeps): ClusterNode | undefined {
  const { cluster, duplicates, limits } = settings;
  const { opened, identity, shards, codec, acknowledged, observer, signedOut, counts, onForeignOwners, log } = deps;
  if (cluster.port === null) return undefined;
  const { store, meta, name } = opened;
  if (store.table === undefined) throw new StoreError(`nodes cannot share the store ${name}`);
  const tag = identity.ownerTag;
  const address = { host: cluster.host, port: cluster.port };
  const reached = advertised(cluster);
  return new ClusterNode({
    tag,
    about: {
      name: nameOf(settings),
      host: reached.host,
      zone: cluster.zone ?? '',
      version: BUILD,
      format: STORE_FORMAT,
      rulesHash: rulesHash(settings, meta),
      retentionMs: rulesOf(settings, meta).retentionMs,
      archiveId: archiveIdOf(settings, meta),
    },
    advertisedPort: reached.port,
    settings: { followers: cluster.followers, expect: cluster.expect },
    shardCount: meta.shards,
    table: store.table,
    headOf: (shard) => store.wal.head(shard),
    appendQueueOf: (shard) => store.wal.appendQueueOf(shard),
    local: shards,
    makeLinks: (events) =>
      new SocketLinks(address, {
        storeId: meta.storeId,
        tag,
        // If there is no secret, the node listens only on loopback.
        secret: cluster.secret ?? '',
        tls: peerTls(cluster, deps.tls),
        counts,
        log,
        events,
      }),
    codec,
    acknowledged,
    parkedMax: limits.mailboxMax,
    refusesRepeats: duplicates === 'reject',
    observer,
    onForeignOwners,
    signedOut,
    clock: systemClock,
    addMissedTime,
    timers: systemTimers,
    log,
  });
}

/** The archive ID that this node announces to the other members. */
export function archiveIdOf(settings: Settings, { archiveId }: StoreMeta): string | null {
  return hasArchive(settings) ? (archiveId ?? UNSEEN_ARCHIVE) : null;
}

/** The human-readable name by which this node is known in the cluster. */
export function nameOf({ cluster }: Pick<Settings, 'cluster'>): string {
  return cluster.name ?? hostname();
}

type ClusterSettings = Settings['cluster'];

const ADVERTISED = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:[\]]+))(?::(\d{1,5}))?$/;
const EVERYWHERE = ['0.0.0.0', '::'];

/** Throws a `ConfigError` if the setting is not an address. */
function advertised({ advertise, host }: ClusterSettings): Pick<PeerAddress, 'host'> & { port: number | undefined } {
  if (advertise === null) return { host: EVERYWHERE.includes(host) ? hostname() : host, port: undefined };
  const [, v6, name, port] = ADVERTISED.exec(advertise) ?? [];
  const reached = v6 ?? name;
  if (reached === undefined || Number(port ?? 0) > 65_535) {
    throw new ConfigError(`cluster.advertise is ${advertise}, but must be HOST or HOST:PORT`);
  }
  return { host: reached, port: port === undefined ? undefined : Number(port) };
}

function peerTls({ tls }: ClusterSettings, own: Tls | undefined): PeerTls | undefined {
  if (own === undefined || tls.caFile === null) return undefined;
  try {
    return { cert: own.certificate, key: own.key, ca: Buffer.from(decodeText(readFileSync(tls.caFile))) };
  } catch (error) {
    throw new ConfigError(`cannot read ${tls.caFile} (cluster.tls.caFile): ${messageOf(error)}`);
  }
}

/** The hash of the rules. It is equal on all nodes that make the same decisions. */
function rulesHash(settings: Settings, meta: StoreMeta): string {
  const { products, ...rules } = rulesOf(settings, meta);
  const { money, txnsMax, limits, adjustBalance } = settings;
  const all = [
    rules,
    [...products],
    money.amountMax,
    money.amountMaxima,
    money.creditMax,
    adjustBalance.creditMax,
    txnsMax,
    limits.bodyBytesMax,
  ];
  return createHash('sha256').update(JSON.stringify(all)).digest('hex').slice(0, 16);
}
