import { ConfigError } from '../config/config-error.js';
import { EXIT } from '../node/exit-codes.js';
import { formatLsn } from '../shard/log/lsn.js';
import { walletAt } from '../tools/inspect/wallet-at.js';
import type { At } from '../tools/point-in-time.js';
import { formatUnits, type Units } from '../wallet/amount.js';
import { type BackupInputOptions, backupInput, maybeBackupFile, PIPE } from './backup-input.js';
import { isoTime, plural } from './print/format.js';
import { printable } from './print/printable.js';
import { Progress } from './print/progress.js';
import { maybeRunningServer } from './running-server.js';
import { isStoreAddress, settingsToRead } from './store-address.js';
import type { Outcome } from './verb.js';
import { withStoreToRead } from './with-store.js';

interface ShowOptions extends BackupInputOptions {
  readonly from: string;
  readonly at?: At;
}

/** Shows a player as a backup has him, beside what a running server has, and the correction between the two. */
export async function showPlayer(username: string, options: ShowOptions): Promise<Outcome | number> {
  const { at, json } = options;
  const from = await placeToLookInto(options);
  return await withStoreToRead(from, new Progress('Looking', !json), async ({ reader, meta, name, progress }) => {
    const { shard, lsn, timeMs, wallet } = await walletAt(username, at, reader);
    progress.stop();
    if (wallet === undefined) {
      console.error(`walletd: ${name} has no player ${printable(username)}`);
      return EXIT.failure;
    }
    const { currency, balance, version, openBets, blocked } = wallet;
    const scale = reader.scales.of(currency);
    const server = await maybeRunningServer(settingsToRead(undefined), meta.storeId).catch(() => undefined);
    const now = await server?.player(username);
    const nowUnits = now === undefined ? undefined : unitsOf(now.balance, scale);
    const then = { time: isoTime(timeMs), shard, lsn: formatLsn(lsn), version, currency, blocked, openBets };
    const id = `restore-${shard}-${formatLsn(lsn)}`;
    const difference = nowUnits === undefined ? undefined : formatUnits(balance - nowUnits, scale);
    const reason = `balance as of ${isoTime(timeMs)}`;
    const correction = difference === undefined || balance === nowUnits ? null : { id, amount: difference, reason };
    const was = `${printable(username)} as of ${then.time} (shard ${shard}, entry ${then.lsn}): ${formatUnits(balance, scale)} ${currency}, ${plural(openBets, 'open bet')}`;
    return {
      text: () => [was, ...comparison(server?.url, now?.balance, currency, correction)].join('\n'),
      json: () => [{ username, ...then, balance: formatUnits(balance, scale), now: now?.balance ?? null, correction }],
    };
  });
}

/** A store or a file, which is read here and there. Of a folder, the newest file that reaches back to `at`. */
async function placeToLookInto(options: ShowOptions): Promise<string> {
  const { from, at, identity } = options;
  if (from === PIPE)
    throw new ConfigError('--player looks into a file or a store: a pipe cannot be read here and there');
  if (identity !== undefined) {
    throw new ConfigError('--player looks into a file that is not encrypted: look into what `age -d` makes of it');
  }
  if (isStoreAddress(from) || (await maybeBackupFile(from)) === from) return from;
  return (await backupInput(from, at, options)).source.name;
}

function comparison(url: string | undefined, now: string | undefined, currency: string, correction: object | null) {
  if (url === undefined || now === undefined)
    return ['No server of this store answers: what the player has now is not known.'];
  const there = `At ${url} now: ${now} ${currency}`;
  if (correction === null) return [`${there}, the same.`];
  return [there, `The correction that would bring him there: ${JSON.stringify(correction)}`];
}

/** The units in a decimal of our own printing, exactly. */
function unitsOf(decimal: string, scale: number): Units {
  const [whole = '', fraction = ''] = decimal.split('.');
  return Number(`${whole}${fraction.padEnd(scale, '0')}`);
}
