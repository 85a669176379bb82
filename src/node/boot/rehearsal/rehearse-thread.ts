import { type Logger, silentLogger } from '../../../base/logger.js';
import { messageOf } from '../../../base/message-of.js';
import type { CallbackCodec } from '../../../callback/callback-codec.js';
import { FormatGate, STORE_FORMAT } from '../../../store/format/format-gate.js';
import { MemoryGuard } from '../../../upkeep/memory-guard.js';
import { ScaleTable } from '../../../wallet/amount.js';
import type { Rules } from '../../../wallet/decide/rules.js';
import { hasArchive } from '../../drivers/open-archive.js';
import { ShardTelemetry } from '../../metrics/shard-telemetry.js';
import { youngBytes } from '../../settings/heap.js';
import { rulesOf } from '../../settings/rules.js';
import { rulesThrough, type ShardThreadSettings } from '../shard-thread.js';
import { EMPTY_ARCHIVE } from './empty-archive.js';
import { type RehearsalDeps, rehearseShards } from './rehearse-shards.js';

/** Rules that accept every product and require no session. */
const NO_CHECKS: Partial<Rules> = { products: new Map(), productsUnlisted: 'accept', sessionToken: 'ignore' };

type RehearsedThread = Pick<ShardThreadSettings, 'settings' | 'meta' | 'heapMaxBytes' | 'recordsMaxBytes'>;

/** Rehearses in this thread, with its codec and settings, for at most `maxMs`; 0 turns the rehearsal off. */
export async function rehearseThread(
  { settings, meta, heapMaxBytes, recordsMaxBytes }: RehearsedThread,
  codec: CallbackCodec,
  log: Logger,
  maxMs = settings.rehearsalMaxMs,
  listen?: RehearsalDeps['listen'],
): Promise<void> {
  const { requestDeadlineMs, limits } = settings;
  if (maxMs === 0) return;
  const memoryLimits = { heapMaxBytes, youngBytes: youngBytes(heapMaxBytes), recordsMaxBytes };
  const memory = new MemoryGuard(memoryLimits, silentLogger);
  const newObserver = () =>
    new ShardTelemetry(silentLogger, memory, {
      thread: 'rehearsal',
      scales: new ScaleTable(meta.scales),
      requestDeadlineMs,
      everySeconds: 0,
      server: () => undefined,
      news: { failed() {}, answered() {} },
    });
  const rules = rulesThrough(new FormatGate(STORE_FORMAT), { ...rulesOf(settings, meta), ...NO_CHECKS });
  try {
    const archive = hasArchive(settings) ? EMPTY_ARCHIVE : undefined;
    const deps = { codec, rules, limits, memory, archive, newObserver, maxMs, listen };
    const rehearsal = await rehearseShards(deps);
    log.debug(rehearsal, 'rehearsal ended');
  } catch (error) {
    // A start never depends on its rehearsal.
    log.info({ error: messageOf(error) }, 'rehearsal failed, the first callbacks may be slower');
  } finally {
    memory.close();
  }
}
