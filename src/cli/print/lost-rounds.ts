import { toCsv } from '../../csv/to-csv.js';
import { formatLsn } from '../../ports/lsn.js';
import type { LostRound } from '../../tools/loss/archive-loss.js';
import { isoTime } from './format.js';
import { printable } from './printable.js';
import { formatTable } from './table.js';

const COLUMNS = ['left memory', 'username', 'productId', 'roundId', 'shard', 'entry'];
const SHOWN_MAX = 20;

/** Counts lost rounds per player. */
export function playersOf(rounds: readonly Pick<LostRound, 'username'>[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { username } of rounds) counts.set(username, (counts.get(username) ?? 0) + 1);
  return counts;
}

/** A human-readable table of the players with the most lost rounds. */
export function lostRoundsTable(rounds: readonly LostRound[]): string {
  const players = [...playersOf(rounds)].sort(([, one], [, other]) => other - one);
  const rows = players.slice(0, SHOWN_MAX).map(([username, count]) => [printable(username), String(count)]);
  const more = players.length > SHOWN_MAX ? `\n… and ${players.length - SHOWN_MAX} more players` : '';
  return formatTable(['username', { right: 'lost rounds' }], rows) + more;
}

/** CSV of all lost rounds. */
export function lostRoundsCsv(rounds: readonly (LostRound & { readonly shard: number })[]): string {
  const rows = rounds.map(({ timeMs, username, productId, roundId, shard, lsn }) => {
    return [isoTime(timeMs), username, productId, roundId, String(shard), formatLsn(lsn)];
  });
  return toCsv([COLUMNS, ...rows]);
}
