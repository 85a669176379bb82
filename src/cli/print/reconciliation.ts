import { DIFFERENCE_TYPES, type Difference, type OurSide, type TheirSide } from '../../tools/reconcile/difference.js';
import type { Reconciliation } from '../../tools/reconcile/reconcile.js';
import type { DaySum, SideSum } from '../../tools/reconcile/sums.js';
import { formatSum, formatUnits, type ScaleTable, type Units } from '../../wallet/amount.js';
import { isoTime, plural } from './format.js';
import { formatTable } from './table.js';

/** Maximum number of rows in a human-readable table; --json has no limit. */
export const ROWS_MAX = 1000;

const SUM_COLUMNS = [
  'day',
  'product',
  'currency',
  ...['bets', 'here', 'stake', 'here', 'payout', 'here', 'too much here', 'credits here'].map((right) => ({ right })),
];
const DIFFERENCE_COLUMNS = [
  'differs',
  'product',
  'round',
  'player',
  'id',
  { right: 'line' },
  'platform',
  'walletd',
  '',
];

/** `listed` holds the first differences; `total` is the number of all differences. */
export function reconciliationText(
  { counts, sums }: Reconciliation,
  listed: readonly Difference[],
  total: number,
  scales: ScaleTable,
): string {
  const parts = [
    sumsTable(sums.all(), scales),
    `Compared ${plural(counts.theirs, 'record')} of the platform with ${plural(counts.ours, 'bet')}: ${counts.equal} are the same.`,
    ...notesOf(counts),
    differencesText(listed, total, scales),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function notesOf({ outside, cancelled, roundsUnknown, roundsEqual }: Reconciliation['counts']): string[] {
  const notes = [
    outside > 0 ? `${outside} outside the time window, or at its edge, were not compared.` : '',
    cancelled > 0 ? `${cancelled} cancelled bets are on one side only and move no money.` : '',
    roundsEqual > 0 ? `${plural(roundsEqual, 'round')} paid per round: the sums are equal.` : '',
    roundsUnknown > 0 ? `${plural(roundsUnknown, 'round')} paid per round: not all bets are on both sides.` : '',
  ];
  return notes.some((note) => note !== '') ? [notes.filter((note) => note !== '').join('\n')] : [];
}

function sumsTable(all: readonly DaySum[], scales: ScaleTable): string {
  const isLong = all.length > ROWS_MAX;
  const shown = isLong ? all.filter(({ isEqual }) => !isEqual).slice(0, ROWS_MAX) : all;
  if (shown.length === 0) return '';
  const rows = shown.map(({ day, productId, currency, theirs, ours, credits }) => {
    const money = (units: bigint) => formatSum(units, scales.of(currency));
    const both = (of: (side: SideSum) => string) => [of(theirs), of(ours)];
    return [
      ...[day, productId, currency],
      ...both(({ bets }) => String(bets)),
      ...both(({ stake }) => money(stake.value)),
      ...both(({ payout }) => money(payout.value)),
      money(surplusOf(theirs, ours)),
      money(credits.value),
    ];
  });
  const table = formatTable(SUM_COLUMNS, rows);
  return isLong ? `${table}\n\nOnly the differing sums of ${all.length} are shown; --json shows all.` : table;
}

/** The excess of the players' winnings in walletd over those in the platform's history. */
function surplusOf(theirs: SideSum, ours: SideSum): bigint {
  return ours.payout.value - ours.stake.value - (theirs.payout.value - theirs.stake.value);
}

function differencesText(listed: readonly Difference[], total: number, scales: ScaleTable): string {
  if (total === 0) return 'Nothing differs.';
  const table = formatTable(
    DIFFERENCE_COLUMNS,
    listed.map((one) => differenceRow(one, scales)),
  );
  const left = total - listed.length;
  const more = left === 0 ? '' : `\n\n${left} more are omitted; --json shows all.`;
  return `${plural(total, 'difference')}:\n\n${table}${more}`;
}

function differenceRow(difference: Difference, scales: ScaleTable): string[] {
  const { types, productId, roundId, username, id, currency, theirs, ours } = difference;
  return [
    types.join(', '),
    productId,
    roundId ?? '',
    username,
    id ?? '',
    theirs === undefined ? '' : String(theirs.line),
    theirs === undefined ? '-' : theirText(theirs, currency, scales),
    ours === undefined ? '-' : ourText(ours, currency, scales),
    ours?.isUntaken ? 'the stake was not taken here (skipBalanceUpdate)' : '',
  ];
}

function theirText({ state, stake, payout, currency }: TheirSide, ours: string, scales: ScaleTable): string {
  return sideText(state, stake, payout, currency ?? ours, currency !== undefined, scales);
}

function ourText({ state, held, paid }: OurSide, currency: string, scales: ScaleTable): string {
  return sideText(state, held, paid, currency, false, scales);
}

function sideText(
  state: string | undefined,
  stake: Units | undefined,
  payout: Units | undefined,
  currency: string,
  isNamed: boolean,
  scales: ScaleTable,
): string {
  const money = (units: Units) => formatUnits(units, scales.of(currency));
  return [
    ...(state === undefined ? [] : [state]),
    ...(stake === undefined ? [] : [money(stake)]),
    ...(payout === undefined ? [] : [`-> ${money(payout)}`]),
    ...(isNamed ? [currency] : []),
  ].join(' ');
}

/** Sorts by product, player, round and id, which is the order in which a reader looks for them. */
export function sortedDifferences(differences: readonly Difference[]): Difference[] {
  const key = ({ productId, username, roundId, id }: Difference) =>
    JSON.stringify([productId, username, roundId ?? '', id ?? '']);
  return [...differences].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

export function differenceJson(difference: Difference, scales: ScaleTable): object {
  const { types, productId, roundId, username, id, currency, theirs, ours } = difference;
  const decimals = (units: Units | undefined, of = currency) =>
    units === undefined ? undefined : formatUnits(units, scales.of(of));
  const time = (timeMs: number | undefined) => (timeMs === undefined ? undefined : isoTime(timeMs));
  return {
    record: 'difference',
    ...{ types, username, productId, roundId, id, currency },
    platform: theirs && {
      line: theirs.line,
      state: theirs.state,
      stake: decimals(theirs.stake, theirs.currency),
      payout: decimals(theirs.payout, theirs.currency),
      currency: theirs.currency,
      time: time(theirs.timeMs),
    },
    walletd: ours && {
      state: ours.state,
      held: decimals(ours.held),
      paid: decimals(ours.paid),
      time: time(ours.timeMs),
      untaken: ours.isUntaken || undefined,
    },
  };
}

export function* summaryJson(
  { counts, sums }: Reconciliation,
  byType: ReadonlyMap<string, number>,
  scales: ScaleTable,
) {
  for (const { day, productId, currency, theirs, ours, credits } of sums.all()) {
    const side = ({ bets, stake, payout }: SideSum) => {
      const scale = scales.of(currency);
      return { bets, stake: formatSum(stake.value, scale), payout: formatSum(payout.value, scale) };
    };
    const walletd = { ...side(ours), credits: formatSum(credits.value, scales.of(currency)) };
    yield { record: 'sum', day, productId, currency, platform: side(theirs), walletd };
  }
  const types = Object.fromEntries(DIFFERENCE_TYPES.map((type) => [type, byType.get(type) ?? 0]));
  yield { record: 'total', clean: byType.size === 0, ...counts, differences: types };
}
