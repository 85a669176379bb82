import { readFile } from 'node:fs/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { decodeText } from '../base/decode-text.js';
import { messageOf } from '../base/message-of.js';
import { ConfigError } from '../config/config-error.js';
import { EXIT } from '../node/settings/exit-codes.js';
import { inspect } from '../tools/inspect/inspect.js';
import { UNDOABLE_ENDPOINTS, type Undo, type UndoSelection, undoPlan } from '../tools/inspect/undo-plan.js';
import { parseAt } from '../tools/point-in-time.js';
import { shardsOf, ToolError } from '../tools/store-reader.js';
import type { Corrected, OperatorApi } from '../tools/verify/operator-api.js';
import { formatUnits, type Units, unitsPerWhole } from '../wallet/amount.js';
import { UNDO_ATTEMPTS_MAX, UNDOABLE_OPERATIONS, type Undoable } from '../wallet/undo-id.js';
import { argument } from './argument.js';
import { conclude, helpText, type Outcome, type OutputOptions, print } from './command.js';
import { confirm } from './confirm.js';
import { isoTime } from './print/format.js';
import { Progress } from './print/progress.js';
import { leftOf, sumsOf, sumsText, type UndoReport, undoCsv, undoEnded, undoShown } from './print/undo.js';
import { findServerOfPlayers, operatorApiUrl } from './running-server.js';
import { STORE_ADDRESS_HELP } from './store-address.js';
import { type ReadStore, STORE_OPTION, withStoreToRead } from './with-store.js';
import { writePrivate } from './write-private.js';

interface UndoOptions extends OutputOptions {
  readonly operator?: string;
  readonly callbacks?: true;
  readonly since: number;
  readonly until?: number;
  readonly player?: string;
  readonly ids?: string;
  readonly type?: Undoable;
  readonly product?: string;
  readonly endpoint?: string;
  readonly maxCount?: number;
  readonly maxAmount?: number;
  readonly allowNegativeBalance?: true;
  readonly askAgain?: true;
  readonly csv?: string;
  readonly dryRun?: true;
  readonly yes?: true;
  readonly store?: string;
}

/** Number of corrections to send concurrently. */
const AT_ONCE = 16;
/**
 * A larger number of corrections requires an explicit option, so that a mistake in the filters cannot empty a casino.
 */
const COUNT_MAX = 100;
const AMOUNT_MAX = 10_000;

export function addUndo(program: Command): void {
  program
    .command('undo')
    .description('take back operations of an operator, or credits of callbacks, with one correction each')
    .option('--operator <name>', 'operator whose operations to take back, as named by `walletd inspect operators`')
    .option('--callbacks', 'take back credits without a bet: of adjustBalance, and rewards of winRewards')
    .requiredOption('--since <time>', 'since this time, such as 2026-01-31T12:00:00Z', parseTime)
    .option('--until <time>', 'up to this time (default: now)', parseTime)
    .option('--player <name>', 'only this player')
    .option('--ids <file>', 'only ids listed in this file, one per line (refId of adjustBalance)')
    .addOption(new Option('--type <type>', 'with --operator: only this type').choices([...UNDOABLE_OPERATIONS]))
    .option('--product <id>', 'with --callbacks: only this product')
    .addOption(new Option('--endpoint <name>', 'with --callbacks: only this endpoint').choices(UNDOABLE_ENDPOINTS))
    .option('--max-count <number>', `maximum number of corrections (default: ${COUNT_MAX})`, argument(parseCount))
    .option(
      '--max-amount <amount>',
      `maximum sum per currency, in whole currency (default: ${AMOUNT_MAX})`,
      argument(parseAmount),
    )
    .option('--allow-negative-balance', 'also take back money already spent, which leaves the player with a debt')
    .option('--ask-again', 'request refused or expired approvals again')
    .option('--csv <file>', 'also write all corrections to a new file')
    .option('--dry-run', 'show the corrections and their sums, and write nothing')
    .option('--yes', 'write the corrections without asking (default: ask on a terminal, otherwise only show them)')
    .option('--json', 'print a JSON object per correction instead of a table')
    .option(...STORE_OPTION)
    .addHelpText(
      'after',
      helpText({
        notes: [
          STORE_ADDRESS_HELP,
          `\
undo reads operations and credits from the store. It sends corrections, with the token of the settings, to the operator API of
the server on this store or on a store restored from it; the limits and approvals of the server apply. The id of a correction
derives from the movement that it takes back, and no request can choose it: a second run never corrects anything twice. Bets and
their payouts stay. The platform must not void a reward that has been taken back.`,
        ],
        exitCodes: `\
${EXIT.ok} shown, or all written; ${EXIT.failure} some were refused or wait for approval, nothing was found, or the command failed.`,
        examples: [
          'walletd undo --operator backoffice --since 2026-01-31T12:00:00Z --type deposit',
          'walletd undo --operator backoffice --since 2026-01-31T12:00:00Z --type deposit --yes',
          'walletd undo --callbacks --endpoint adjustBalance --since 2026-01-31T12:00:00Z --dry-run',
          'walletd undo --callbacks --ids refids --since 2026-01-31T12:00:00Z --max-count 500 --max-amount 13000 --yes',
        ],
      }),
    )
    .action((options: UndoOptions) => conclude(run(options), options));
}

function parseTime(text: string): number {
  const at = (() => {
    try {
      return parseAt(text);
    } catch {
      return undefined;
    }
  })();
  if (at?.type === 'time') return at.timeMs;
  throw new InvalidArgumentError('it must be a time with its zone, such as 2026-01-31T12:00:00Z.');
}

function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Error('it must be a whole number above 0');
}

function parseAmount(text: string): number {
  if (/^\d{1,15}(\.\d{1,8})?$/.test(text) && Number(text) > 0) return Number(text);
  throw new Error('it must be an amount above 0, such as 12999.50');
}

async function run(options: UndoOptions): Promise<Outcome | number> {
  const wish = await wishOf(options);
  const progress = new Progress('Looking', !options.json);
  return await withStoreToRead(options.store, progress, (opened) => undo(opened, wish, options));
}

async function wishOf(options: UndoOptions): Promise<UndoSelection> {
  const { operator, callbacks, since, until = Date.now(), ids, type, product, endpoint } = options;
  if ((operator === undefined) === (callbacks === undefined)) {
    throw new ConfigError('name --operator NAME or --callbacks, to select the money to take back');
  }
  if (callbacks && type !== undefined) throw new ConfigError('--type requires --operator: name an --endpoint');
  if (!callbacks && (product !== undefined || endpoint !== undefined)) {
    throw new ConfigError('--product and --endpoint require --callbacks');
  }
  return {
    by: operator === undefined ? 'platform' : { operator },
    sinceMs: since,
    untilMs: until,
    type,
    productId: product,
    endpoint,
    ids: ids === undefined ? undefined : await readIds(ids),
  };
}

async function readIds(file: string): Promise<ReadonlySet<string>> {
  const text = await readFile(file)
    .then(decodeText)
    .catch((error: unknown) => {
      throw new ConfigError(`--ids ${file}: ${messageOf(error)}`);
    });
  return new Set(text.split(/\r?\n/).filter((line) => line !== ''));
}

async function undo(opened: ReadStore, wish: UndoSelection, options: UndoOptions): Promise<Outcome | number> {
  const { reader, meta, settings, progress } = opened;
  const found = await inspect(
    reader,
    options.player === undefined ? shardsOf(reader) : [reader.shardOf(options.player)],
    { type: wish.by === 'platform' ? 'credits' : 'operators', sinceMs: wish.sinceMs, username: options.player },
    progress.update,
  );
  progress.stop();
  for (const note of found.notes) progress.warn(note);
  const currencies = new Map(found.players.map(({ wallet }) => [wallet.username, wallet.currency]));
  const { scales } = reader;
  const items = found.items.filter(({ username }) => currencies.has(username));
  const decimalOf = (username: string, amount: Units) =>
    formatUnits(amount, scales.of(currencies.get(username) as string));
  const plan = undoPlan(items, wish, decimalOf);
  if (wish.ids !== undefined) warnOfMissing(wish.ids, plan, progress);
  if (plan.length === 0) {
    const who = wish.by === 'platform' ? 'callbacks' : wish.by.operator;
    console.error(`walletd: ${who} made no such operations since ${isoTime(wish.sinceMs)}`);
    return EXIT.failure;
  }
  const ended = new Map<Undo, Corrected>();
  const report: UndoReport = { plan, ended, scales, currencyOf: ({ username }) => currencies.get(username) as string };
  const outcome = await finish(report, options, async () => {
    const served = await findServerOfPlayers(settings, meta.storeId);
    if (served === undefined) {
      throw new ToolError(
        `corrections go through the operator API, and no server of this store answers at ${operatorApiUrl(settings)}`,
      );
    }
    if (served.isLater && leftOf(plan).some(({ type }) => type === 'reward')) {
      throw new ToolError(
        `the server at ${served.server.url} serves a store that was made from this one, where a reward may have been voided since: ` +
          'name that store in --store to take rewards back',
      );
    }
    await write(plan, served.server, decimalOf, ended, options);
  });
  if (options.csv !== undefined) await writePrivate(options.csv, undoCsv(report));
  return outcome;
}

/** Warns about ids that were not found, because the undo leaves their money with the players. */
function warnOfMissing(ids: ReadonlySet<string>, plan: readonly Undo[], progress: Progress): void {
  const found = new Set(plan.map(({ id }) => id));
  const missing = [...ids].filter((id) => !found.has(id));
  if (missing.length > 0) {
    progress.warn(`${missing.length} of ${ids.size} ids were not found, such as ${JSON.stringify(missing[0])}`);
  }
}

/** Shows the corrections, asks for confirmation and writes them, as the options require. */
async function finish(
  report: UndoReport,
  options: UndoOptions,
  writeAll: () => Promise<void>,
): Promise<Outcome | number> {
  const beyond = beyondLimits(report, options);
  const asks = !options.yes && !options.dryRun && !options.json && process.stdin.isTTY === true;
  if (options.dryRun || !(options.yes || asks)) {
    return undoShown(report, beyond === undefined ? '--yes writes them' : `--yes ${beyond.needed} writes them`);
  }
  if (beyond !== undefined) throw new ToolError(beyond.sentence);
  if (asks) {
    print(undoShown(report, 'nothing has been written yet'), options);
    if (!(await confirm('Write these corrections?', options))) return EXIT.failure;
  }
  await writeAll();
  return undoEnded(report);
}

/** Describes the amounts and counts that exceed the limits, and the options that allow them. */
function beyondLimits(
  { plan, currencyOf, scales }: UndoReport,
  { maxCount = COUNT_MAX, maxAmount = AMOUNT_MAX }: UndoOptions,
): { readonly sentence: string; readonly needed: string } | undefined {
  const left = leftOf(plan);
  const sums = sumsOf(left, currencyOf, Math.abs);
  const tooLarge = [...sums].filter(([currency, sum]) => Number(sum) > maxAmount * unitsPerWhole(scales.of(currency)));
  const needed: string[] = [];
  const reasons: string[] = [];
  if (left.length > maxCount) {
    needed.push(`--max-count ${left.length}`);
    reasons.push(`${left.length} corrections are more than --max-count ${maxCount}`);
  }
  if (tooLarge.length > 0) {
    const amounts = tooLarge.map(([currency, sum]) => Number(formatUnits(Number(sum) as Units, scales.of(currency))));
    needed.push(`--max-amount ${Math.max(...amounts)}`);
    reasons.push(`${sumsText(new Map(tooLarge), scales)} are more than --max-amount ${maxAmount}`);
  }
  if (needed.length === 0) return undefined;
  return {
    needed: needed.join(' '),
    sentence: `${reasons.join(', and ')}: nothing was written. Check all of them (--dry-run), then allow them: ${needed.join(' ')}`,
  };
}

async function write(
  plan: readonly Undo[],
  server: OperatorApi,
  decimalOf: (username: string, amount: Units) => string,
  ended: Map<Undo, Corrected>,
  { allowNegativeBalance, askAgain, json }: UndoOptions,
): Promise<void> {
  const progress = new Progress('Correcting', !json);
  const left = leftOf(plan);
  const rest = [...left].reverse();
  const next = async () => {
    for (let one = rest.pop(); one !== undefined; one = rest.pop()) {
      const { username, type, id, productId, amount, reason } = one;
      const undoes = { type, id, ...(productId !== undefined && { productId }) };
      const correction = {
        amount: decimalOf(username, amount),
        reason,
        allowNegativeBalance: allowNegativeBalance === true,
      };
      let corrected = await server.correct(username, { undoes, ...correction });
      for (let attempt = 2; askAgain && isClosed(corrected) && attempt <= UNDO_ATTEMPTS_MAX; attempt++) {
        corrected = await server.correct(username, { undoes: { ...undoes, attempt }, ...correction });
      }
      ended.set(one, corrected);
      progress.update(ended.size, left.length);
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, next));
  } finally {
    progress.stop();
  }
}

/** True if a second operator rejected the correction, or did not approve it in time. */
function isClosed(corrected: Corrected): boolean {
  return typeof corrected === 'object' && corrected.isClosed;
}
