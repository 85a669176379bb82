import { type Logger, silentLogger } from '../../../base/logger.js';
import { messageOf } from '../../../base/message-of.js';
import type { CallbackCodec } from '../../../callback/callback-codec.js';
import { FormatGate, STORE_FORMAT } from '../../../store/format/format-gate.js';
import { MemoryGuard } from '../../../upkeep/memory-guard.js';
import { ScaleTable } from '../../../wallet/amount.js';
import type { Rules } from '../../../wallet/decide/rules.js';
import { hasArchive } from '../../drivers/open-archive.js';
import { ShardTelemetry } from '../../metrics/shard-telemetry.js';
import { rulesOf } from '../../settings/rules.js';
import { rulesThrough, type ShardThreadSettings } from '../shard-thread.js';
import { EMPTY_ARCHIVE } from './empty-archive.js';
import { type RehearsalDeps, rehearseShards } from './rehearse-shards.js';
import { CURRENCY, stakesOf } from './rounds-of-play.js';

/** Limits that no rehearsal exceeds. */
const NO_LIMITS = { heapMaxBytes: 2 ** 50, youngBytes: 0, recordsMaxBytes: 2 ** 50 };
/** Rules that accept every product and require no session. */
const NO_CHECKS: Partial<Rules> = { products: new Map(), productsUnlisted: 'accept', sessionToken: 'ignore' };

type RehearsedThread = Pick<ShardThreadSettings, 'settings' | 'meta'>;
type RehearsalPart = Pick<RehearsalDeps, 'maxMs' | 'owners' | 'listen'>;

/**
 * With a single owner, V8 compiles the code for exactly that owner's objects and discards it at the first real callback.
 * The second one also recovers the players from a snapshot, as a start does.
 */
const OWNERS = 2;

/**
 * Rehearses in this thread, with its codec and settings, for at most `maxMs`; 0 turns the rehearsal off. A short part
 * that only creates objects of all classes needs one of the owners.
 */
export async function rehearseThread(
  { settings, meta }: RehearsedThread,
  codec: CallbackCodec,
  log: Logger,
  { maxMs = settings.rehearsalMaxMs, owners = OWNERS, listen }: Partial<RehearsalPart> = {},
): Promise<void> {
  const { requestDeadlineMs, limits } = settings;
  if (maxMs === 0) return;
  const memory = new MemoryGuard(NO_LIMITS, silentLogger);
  const scales = new ScaleTable(meta.scales);
  const newObserver = () =>
    new ShardTelemetry(silentLogger, memory, {
      thread: 'rehearsal',
      scales,
      requestDeadlineMs,
      everySeconds: 0,
      server: () => undefined,
      news: { failed() {}, answered() {} },
    });
  const rules = rulesThrough(new FormatGate(STORE_FORMAT), { ...rulesOf(settings, meta), ...NO_CHECKS });
  try {
    const archive = hasArchive(settings) ? EMPTY_ARCHIVE : undefined;
    const stakes = stakesOf(scales.of(CURRENCY), amountMaxOf(settings));
    const deps = { codec, rules, limits, memory, archive, newObserver, stakes, maxMs, owners, listen };
    const rehearsal = await rehearseShards(deps);
    log.debug(rehearsal, 'rehearsal ended');
  } catch (error) {
    // A start never depends on its rehearsal.
    log.info({ error: messageOf(error) }, 'rehearsal failed, the first callbacks may be slower');
  } finally {
    memory.close();
  }
}

/** In currency units: no amount of a rehearsal may be larger. */
function amountMaxOf({ money }: RehearsedThread['settings']): number {
  const most = money.amountMaxima[CURRENCY] ?? money.amountMax ?? Number.POSITIVE_INFINITY;
  return Math.min(most, money.creditMax ?? most);
}
