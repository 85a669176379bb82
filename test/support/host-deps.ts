import { type Clock, systemClock } from '../../src/base/clock.js';
import { silentLogger } from '../../src/base/logger.js';
import { systemTimers } from '../../src/base/timers.js';
import { CallbackCodec } from '../../src/callback/callback-codec.js';
import { requestCodecs } from '../../src/callback/request-codec.js';
import { rulesOf } from '../../src/node/settings/rules.js';
import type { SnapshotStore } from '../../src/ports/snapshot-store.js';
import type { Owner, Wal } from '../../src/ports/wal.js';
import { EntryCodec, genesisHead } from '../../src/store/format/entry-codec.js';
import { SnapshotCodec } from '../../src/store/format/snapshot-codec.js';
import type { HostObserver } from '../../src/threads/host-observer.js';
import type { HostDeps } from '../../src/threads/shard-host.js';
import { AmountLimits, ScaleTable } from '../../src/wallet/amount.js';
import { settingsWith } from './settings.js';

const scales = new ScaleTable({ default: 4, byCurrency: {} });
const CODEC_SETTINGS = {
  scales,
  amountLimits: new AmountLimits({ default: 1e10, byCurrency: {} }, scales),
  creditMax: null,
  movementMax: null,
  txnsMax: 200,
  isStrict: false,
  includesReason: true,
  sessionToken: 'ignore',
  closed: 'own',
} as const;
/** The request codecs, which all tests share because compiling the codecs takes longer than most tests. */
const REQUESTS = requestCodecs(CODEC_SETTINGS);
export const CODEC = codecOn(systemClock);
const SETTINGS = settingsWith();

export function codecOn(clock: Clock): CallbackCodec {
  return new CallbackCodec(CODEC_SETTINGS, clock, REQUESTS);
}

export const OWNER: Owner = { host: 'test', pid: 1, startedMs: 0 };

export const DEAF: HostObserver = {
  decided() {},
  appendCompleted() {},
  appendFailed() {},
  healed() {},
  failed() {},
  replayed() {},
  fenced() {},
  snapshotEnded() {},
  looked() {},
  archived() {},
  archiveFailed() {},
};

interface Needed extends Partial<HostDeps> {
  readonly storeId: string;
  readonly shardCount: number;
  readonly wal: Wal;
  readonly snapshots: SnapshotStore;
  readonly ownerTag: string;
  /** Returns `digits` random hexadecimal digits. */
  readonly newHex: (digits: number) => string;
}

/** Dependencies of a host without an archive, with snapshots only on demand, and with the default rules and limits. */
export function hostDeps({ storeId, newHex, ...given }: Needed): HostDeps {
  const clock = given.clock ?? systemClock;
  return {
    isTracing: false,
    isShared: false,
    codec: CODEC,
    checkStore: async () => {},
    metrics: () => [],
    onClose: async () => {},
    format: new EntryCodec(storeId),
    snapshotFormat: new SnapshotCodec(storeId),
    allowFormat: () => {},
    policy: { everyEntries: 0, everyMs: 0, keep: 3, historyBytesMax: 0 },
    newSnapshotId: () => newHex(16),
    acknowledged: () => undefined,
    genesis: (shard) => genesisHead(storeId, shard),
    clock,
    timers: systemTimers,
    clockOffsetMs: clock.now() - clock.monotonicMs(),
    log: silentLogger,
    rules: rulesOf(SETTINGS),
    limits: SETTINGS.limits,
    memory: { isFull: false, isHalfFull: false },
    idleMs: 60_000,
    loopIdleMs: () => performance.eventLoopUtilization().idle,
    archive: undefined,
    names: undefined,
    memoryMs: 3_600_000,
    observer: DEAF,
    owner: OWNER,
    newNonce: () => given.ownerTag + newHex(8),
    onFenced: () => {},
    recentBytesMax: 1_000_000,
    replayWindowMs: 600_000,
    writeOrphans: async (shard) => `orphans of ${shard}`,
    ...given,
  };
}
