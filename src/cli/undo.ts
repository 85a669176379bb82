import { type Command, InvalidArgumentError, Option } from 'commander';
import { EXIT } from '../node/exit-codes.js';
import { inspect } from '../tools/inspect/inspect.js';
import { UNDOABLE, type Undo, type Undoable, undoPlan } from '../tools/inspect/undo-plan.js';
import { parseAt } from '../tools/point-in-time.js';
import { shardsOf, ToolError } from '../tools/store-reader.js';
import type { OperatorApi } from '../tools/verify/operator-api.js';
import { formatUnits } from '../wallet/amount.js';
import { isoTime, plural } from './print/format.js';
import { printable } from './print/printable.js';
import { Progress } from './print/progress.js';
import { formatTable } from './print/table.js';
import { maybeRunningServer, operatorApiUrl } from './running-server.js';
import { STORE_ADDRESS_HELP } from './store-address.js';
import { conclude, helpText, type Outcome, type OutputOptions } from './verb.js';
import { type ReadStore, STORE_OPTION, withStoreToRead } from './with-store.js';

interface UndoOptions extends OutputOptions {
  readonly operator: string;
  readonly since: number;
  readonly until?: number;
  readonly type?: Undoable;
  readonly allowNegativeBalance?: true;
  readonly yes?: true;
  readonly store?: string;
}

/** Corrections on their way at once. */
const AT_ONCE = 16;

export function addUndo(program: Command): void {
  program
    .command('undo')
    .description('take back what an operator did, by one correction for each deposit, withdrawal and import')
    .requiredOption(
      '--operator <name>',
      'whose operations: the name of a token, as `walletd inspect operators` shows it',
    )
    .requiredOption('--since <time>', 'from this time on, such as 2026-01-31T12:00:00Z', parseTime)
    .option('--until <time>', 'up to this time (default: now)', parseTime)
    .addOption(new Option('--type <type>', 'operations of this type only').choices(Object.keys(UNDOABLE)))
    .option('--allow-negative-balance', 'take back also what has been spent: such a player has a debt then')
    .option('--yes', 'write the corrections; without it they are shown')
    .option('--json', 'print a JSON object per correction instead of a table')
    .option(...STORE_OPTION)
    .addHelpText(
      'after',
      helpText({
        notes: [
          STORE_ADDRESS_HELP,
          `\
Operations are read in the store, and corrections go through the operator API of the server that serves it, with the token
of the settings. Each has an id that is made of the operation's: who runs it again, in whatever state, changes nothing twice.
Bets and what they won stay as they are.`,
        ],
        exitCodes: `${EXIT.ok} shown, or all are written; ${EXIT.failure} some were refused, nothing was found, or it could not be done.`,
        examples: [
          'walletd undo --operator backoffice --since 2026-01-31T12:00:00Z --type deposit',
          'walletd undo --operator backoffice --since 2026-01-31T12:00:00Z --type deposit --yes',
        ],
      }),
    )
    .action((options: UndoOptions) => {
      const progress = new Progress('Looking', !options.json);
      return conclude(
        withStoreToRead(options.store, progress, (opened) => undo(opened, options)),
        options,
      );
    });
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

/** How it ended for one operation: undefined while it is only shown. */
type Ended = 'done' | 'done before' | { readonly refused: string } | undefined;

async function undo(opened: ReadStore, options: UndoOptions): Promise<Outcome | number> {
  const { reader, meta, settings, progress } = opened;
  const found = await inspect(
    reader,
    shardsOf(reader),
    { type: 'operators', sinceMs: options.since, username: undefined },
    progress.update,
  );
  progress.stop();
  for (const note of found.notes) progress.warn(note);
  const currencies = new Map(found.players.map(({ wallet }) => [wallet.username, wallet.currency]));
  const wish = { operator: options.operator, untilMs: options.until ?? Date.now(), type: options.type };
  const plan = undoPlan(found.items, wish).filter(({ username }) => currencies.has(username));
  if (plan.length === 0) {
    console.error(`walletd: ${options.operator} did nothing of that kind since ${isoTime(options.since)}`);
    return EXIT.failure;
  }
  const amountOf = ({ username, amount }: Undo) =>
    formatUnits(amount, reader.scales.of(currencies.get(username) as string));
  const ended = new Map<Undo, Ended>();
  if (options.yes) {
    const server = await maybeRunningServer(settings, meta.storeId);
    if (server === undefined) {
      throw new ToolError(
        `corrections go through the operator API, and no server of this store answers at ${operatorApiUrl(settings)}`,
      );
    }
    await write(plan, server, amountOf, ended, options);
  }
  return outcome(plan, ended, amountOf, (one) => currencies.get(one.username) as string, options);
}

async function write(
  plan: readonly Undo[],
  server: OperatorApi,
  amountOf: (one: Undo) => string,
  ended: Map<Undo, Ended>,
  { operator, allowNegativeBalance, json }: UndoOptions,
): Promise<void> {
  const progress = new Progress('Correcting', !json);
  const rest = [...plan].reverse();
  const next = async () => {
    for (let one = rest.pop(); one !== undefined; one = rest.pop()) {
      const { username, undoId, type, id, isDone } = one;
      // The same each time, as a repeat has to be.
      const reason = `undo of ${type} ${id} by ${operator}`.slice(0, REASON_MAX);
      const correction = {
        id: undoId,
        amount: amountOf(one),
        reason,
        allowNegativeBalance: allowNegativeBalance === true,
      };
      const refused = isDone ? undefined : await server.correct(username, correction);
      ended.set(one, refused !== undefined ? { refused } : isDone ? 'done before' : 'done');
      progress.update(ended.size, plan.length);
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, next));
  } finally {
    progress.stop();
  }
}

const REASON_MAX = 400;

function outcome(
  plan: readonly Undo[],
  ended: ReadonlyMap<Undo, Ended>,
  amountOf: (one: Undo) => string,
  currencyOf: (one: Undo) => string,
  { yes }: UndoOptions,
): Outcome {
  const refused = [...ended.values()].filter((one) => typeof one === 'object').length;
  const wordsOf = (one: Undo) => {
    const state = ended.get(one) ?? (one.isDone ? 'done before' : 'would be written');
    return typeof state === 'object' ? `refused: ${state.refused}` : state;
  };
  const rows = plan.map((one) => [
    one.timeMs === undefined ? '-' : isoTime(one.timeMs),
    printable(one.username),
    one.type,
    printable(one.id),
    `${amountOf(one)} ${currencyOf(one)}`,
    printable(wordsOf(one)),
  ]);
  const columns = ['time', 'player', 'operation', 'id', { right: 'correction' }, ''];
  const sum = yes
    ? `${plural(plan.length - refused, 'correction')} are written${refused > 0 ? `, ${refused} were refused` : ''}.`
    : `${plural(plan.length, 'correction')}; --yes writes them.`;
  return {
    text: () => `${formatTable(columns, rows)}\n\n${sum}`,
    json: () =>
      plan.map((one) => ({
        username: one.username,
        type: one.type,
        id: one.id,
        time: one.timeMs === undefined ? null : isoTime(one.timeMs),
        correction: { id: one.undoId, amount: amountOf(one), currency: currencyOf(one) },
        state: wordsOf(one),
      })),
    exitCode: refused > 0 ? EXIT.failure : EXIT.ok,
  };
}
