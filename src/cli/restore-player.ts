import { ConfigError } from '../config/config-error.js';
import { EXIT } from '../node/settings/exit-codes.js';
import { formatLsn } from '../ports/lsn.js';
import { walletAt } from '../tools/inspect/wallet-at.js';
import type { At } from '../tools/point-in-time.js';
import { formatUnits, type Units } from '../wallet/amount.js';
import { type BackupInputOptions, backupInput, findBackupFile, PIPE } from './backup-input.js';
import type { Outcome } from './command.js';
import { isoTime, plural } from './print/format.js';
import { printable } from './print/printable.js';
import { Progress } from './print/progress.js';
import { findServerOfPlayers } from './running-server.js';
import { isStoreAddress, settingsToRead } from './store-address.js';
import { withStoreToRead } from './with-store.js';

/** Without this permission, a correction cannot recreate a debt. */
const DEBT = { allowNegativeBalance: true } as const;

interface ShowOptions extends BackupInputOptions {
  readonly from: string;
  readonly at?: At;
}

/**
 * Shows a player in a backup next to the same player on the running server, and the correction that would turn one into
 * the other.
 */
export async function showPlayer(username: string, options: ShowOptions): Promise<Outcome | number> {
  const { at, json } = options;
  const from = await sourceToShow(options);
  return await withStoreToRead(from, new Progress('Looking', !json), async ({ reader, meta, name, progress }) => {
    const { shard, lsn, timeMs, wallet } = await walletAt(username, at, reader);
    progress.stop();
    if (wallet === undefined) {
      console.error(`walletd: ${name} has no player ${printable(username)}`);
      return EXIT.failure;
    }
    const { currency, balance, version, openBets, blocked } = wallet;
    const scale = reader.scales.of(currency);
    const served = await findServerOfPlayers(settingsToRead(undefined), meta.storeId).catch(() => undefined);
    const server = served?.server;
    const now = await server?.player(username);
    const nowUnits = now === undefined ? undefined : unitsOf(now.balance, scale);
    const then = { time: isoTime(timeMs), shard, lsn: formatLsn(lsn), version, currency, blocked, openBets };
    const id = `restore-${shard}-${formatLsn(lsn)}`;
    const reason = `balance as of ${isoTime(timeMs)}`;
    const correction =
      nowUnits === undefined || balance === nowUnits
        ? null
        : // The number is exact, because the operator API accepts amounts of at most 15 digits.
          { id, amount: Number(formatUnits(balance - nowUnits, scale)), reason, ...(balance < 0 && DEBT) };
    const was = `${printable(username)} as of ${then.time} (shard ${shard}, entry ${then.lsn}): ${formatUnits(balance, scale)} ${currency}, ${plural(openBets, 'open bet')}`;
    return {
      text: () =>
        [was, ...comparison({ username, since: then.time }, server?.url, now?.balance, currency, correction)].join(
          '\n',
        ),
      json: () => [{ username, ...then, balance: formatUnits(balance, scale), now: now?.balance ?? null, correction }],
    };
  });
}

/**
 * The store or file to read, which must allow random access. In a folder, picks the newest file that reaches back to
 * `at`.
 */
async function sourceToShow(options: ShowOptions): Promise<string> {
  const { from, at, identity } = options;
  if (from === PIPE)
    throw new ConfigError('--player requires a file or a store: a pipe cannot be read at random positions');
  if (identity !== undefined) {
    throw new ConfigError('--player cannot read an encrypted file: decrypt it first with `age -d`');
  }
  if (isStoreAddress(from) || (await findBackupFile(from)) === from) return from;
  return (await backupInput(from, at, options)).source.name;
}

function comparison(
  { username, since }: { readonly username: string; readonly since: string },
  url: string | undefined,
  now: string | undefined,
  currency: string,
  correction: object | null,
): string[] {
  if (url === undefined || now === undefined)
    return ['No server of this store answers: the current balance is unknown.'];
  const there = `At ${url} now: ${now} ${currency}`;
  if (correction === null) return [`${there}, the same.`];
  const player = shellQuoted(username);
  return [
    there,
    '',
    'To take back a single credit, write its id into a file, and run one of these commands (with --yes to write):',
    `  walletd undo --callbacks --player ${player} --since ${since} --ids FILE`,
    `  walletd undo --operator NAME --player ${player} --since ${since} --ids FILE`,
    '',
    `To restore the former balance, which also reverses everything that ${printable(username)} has won and lost since, send this:`,
    `  POST ${url}/v1/players/${encodeURIComponent(username)}/corrections`,
    `  ${JSON.stringify(correction)}`,
  ];
}

/** Quotes a word for the shell. */
function shellQuoted(text: string): string {
  return /^[\w.@-]+$/.test(text) ? text : `'${printable(text).replaceAll("'", "'\\''")}'`;
}

/** Converts a decimal printed by walletd to units, without rounding. */
function unitsOf(decimal: string, scale: number): Units {
  const [whole = '', fraction = ''] = decimal.split('.');
  return Number(`${whole}${fraction.padEnd(scale, '0')}`);
}
