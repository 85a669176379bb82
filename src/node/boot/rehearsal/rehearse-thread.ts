import { type Logger, silentLogger } from '../../../base/logger.js';
import { messageOf } from '../../../base/message-of.js';
import type { CallbackCodec } from '../../../callback/callback-codec.js';
import { FormatGate, STORE_FORMAT } from '../../../store/format/format-gate.js';
import { MemoryGuard } from '../../../upkeep/memory-guard.js';
import { ScaleTable } from '../../../wallet/amount.js';
import type { Rules } from '../../../wallet/decide/rules.js';
import { ShardTelemetry } from '../../metrics/shard-telemetry.js';
import { youngBytes } from '../../settings/heap.js';
import { rulesOf } from '../../settings/rules.js';
import { rulesThrough, type ShardThreadSettings } from '../shard-thread.js';
import { type RehearsalDeps, rehearseShards } from './rehearse-shards.js';

/** Rules that accept every product and require no session. */
const NO_CHECKS: Partial<Rules> = { products: new Map(), productsUnlisted: 'accept', sessionToken: 'ignore' };

type RehearsedThread = Pick<ShardThreadSettings, 'settings' | 'meta' | 'heapMaxBytes' | 'recordsMaxBytes'>;

/** Rehearses in this thread, with its codec and settings, unless the settings turn rehearsals off. */
export async function rehearseThread(
  { settings, meta, heapMaxBytes, recordsMaxBytes }: RehearsedThread,
  codec: CallbackCodec,
  log: Logger,
  listen?: RehearsalDeps['listen'],
): Promise<void> {
  const { rehearsalMaxMs, requestDeadlineMs, limits } = settings;
  if (rehearsalMaxMs === 0) return;
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
    const rehearsal = await rehearseShards({ codec, rules, limits, newObserver, maxMs: rehearsalMaxMs, listen });
    log.debug(rehearsal, 'rehearsal ended');
  } catch (error) {
    // A start never depends on its rehearsal.
    log.info({ error: messageOf(error) }, 'rehearsal failed, the first callbacks may be slower');
  } finally {
    memory.close();
  }
}
