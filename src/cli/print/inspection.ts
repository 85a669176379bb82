import { formatLsn } from '../../shard/log/lsn.js';
import type { Entry } from '../../shard/log/wal.js';
import type { Happening } from '../../tools/happening.js';
import type { Inspection, Player } from '../../tools/inspect/inspect.js';
import type { inspectEntry, Orphan } from '../../tools/inspect/inspect-entry.js';
import type { Question } from '../../tools/inspect/question.js';
import { formatUnits, type ScaleTable, type Units } from '../../wallet/amount.js';
import type { Transaction } from '../../wallet/state/round.js';
import { isoTime, plural } from './format.js';
import { printable } from './printable.js';
import { formatTable } from './table.js';

type InspectedEntry = NonNullable<Awaited<ReturnType<typeof inspectEntry>>>;
type InspectedOrphans = Inspection & { readonly orphans: readonly Orphan[] };

/** The limit of a table for people; --json has none. */
const ROWS_MAX = 1000;

const HAPPENING_COLUMNS = [
  'time',
  'entry',
  'player',
  'request',
  'what',
  'product',
  'round',
  'id',
  { right: 'amount' },
  { right: 'before' },
  { right: 'after' },
  '',
];

export function inspectionText(found: Inspection, question: Question, scales: ScaleTable): string {
  const { happenings, players, notes } = found;
  const parts = [
    question.type === 'player' ? players.map((player) => playerLine(player, scales)).join('\n') : '',
    happeningsTable(happenings, players, scales),
    nowTable(players, question, scales),
    notes.map((note) => `Note: ${printable(note)}.`).join('\n'),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

export function* inspectionLines(found: Inspection, question: Question, scales: ScaleTable): Generator<object> {
  const { happenings, players, notes } = found;
  for (const note of notes) yield { record: 'note', note };
  if (question.type === 'player') for (const player of players) yield playerJson(player, scales);
  yield* happeningLines(happenings, players, scales);
  for (const { player, item } of concernedNow(players, question)) yield transactionJson(player, item, scales);
}

export function entryText({ entry, happenings, players, notes }: InspectedEntry, scales: ScaleTable): string {
  const { shard, lsn, previousLsn, timeMs, nonce, owner, events } = entry;
  const what = owner === undefined ? plural(events.length, 'event') : `a fence of ${ownerName(entry)}`;
  const parts = [
    `Entry ${formatLsn(lsn)} of shard ${shard}: ${what}, ${isoTime(timeMs)}, nonce ${nonce}, after ${formatLsn(previousLsn)}`,
    happeningsTable(happenings, players, scales),
    notes.map((note) => `Note: ${printable(note)}.`).join('\n'),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

export function* entryLines(found: InspectedEntry, scales: ScaleTable): Generator<object> {
  const { entry, happenings, players, notes } = found;
  for (const note of notes) yield { record: 'note', note };
  yield entryJson(entry);
  yield* happeningLines(happenings, players, scales);
}

export function orphansText({ orphans, happenings, players, notes }: InspectedOrphans, scales: ScaleTable): string {
  const rows = orphans.map(({ entry, isInLog }) => [
    String(entry.shard),
    formatLsn(entry.lsn),
    isoTime(entry.timeMs),
    entry.owner === undefined ? String(entry.events.length) : 'fence',
    isInLog ? 'yes' : 'no',
  ]);
  const columns = [{ right: 'shard' }, 'entry', 'time', { right: 'events' }, 'in the log'];
  const parts = [
    formatTable(columns, rows),
    happeningsTable(happenings, players, scales),
    notes.map((note) => `Note: ${printable(note)}.`).join('\n'),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

export function* orphansLines(found: InspectedOrphans, scales: ScaleTable): Generator<object> {
  const { orphans, happenings, players, notes } = found;
  for (const note of notes) yield { record: 'note', note };
  for (const { entry, isInLog } of orphans) yield { ...entryJson(entry), isInLog };
  yield* happeningLines(happenings, players, scales);
}

function happeningsTable(happenings: readonly Happening[], players: readonly Player[], scales: ScaleTable): string {
  if (happenings.length === 0) return '';
  const money = new Money(happenings, players, scales);
  const shown = happenings.slice(-ROWS_MAX);
  const table = formatTable(
    HAPPENING_COLUMNS,
    shown.map((one) => happeningRow(one, money)),
  );
  const left = happenings.length - shown.length;
  return left === 0 ? table : `${table}\n\n${left} earlier ones are left out; --json shows all.`;
}

function happeningRow(one: Happening, money: Money): string[] {
  const { shard, username, lsn, timeMs, type, requestId, productId, roundId, id, stake, others, remarks, by, reason } =
    one;
  const amount = (units: Units | undefined) => (units === undefined ? '' : money.format(username, units));
  const words = [
    ...remarks,
    ...(stake === undefined ? [] : [`stake ${amount(stake)}`]),
    ...(others.length === 0 ? [] : [`of ${others.join(' ')}`]),
    ...(by === undefined ? [] : [`by ${by.name} from ${by.address}`]),
    ...(reason === undefined ? [] : [`because: ${reason}`]),
  ];
  return [
    timeMs === undefined ? '' : isoTime(timeMs),
    lsn === undefined ? 'snapshot' : `${shard}:${formatLsn(lsn)}`,
    username,
    requestId ?? '',
    type,
    productId ?? '',
    roundId ?? '',
    id ?? '',
    amount(one.amount),
    amount(one.before),
    amount(one.after),
    words.join(', '),
  ];
}

function* happeningLines(
  happenings: readonly Happening[],
  players: readonly Player[],
  scales: ScaleTable,
): Generator<object> {
  const money = new Money(happenings, players, scales);
  for (const one of happenings) {
    const { shard, lsn, index, timeMs, username, version, type, requestId, productId, roundId, id } = one;
    const decimals = (units: Units | undefined) => (units === undefined ? undefined : money.format(username, units));
    yield {
      record: 'happening',
      source: lsn === undefined ? 'snapshot' : 'log',
      shard,
      lsn: lsn && formatLsn(lsn),
      index,
      time: timeMs === undefined ? undefined : isoTime(timeMs),
      username,
      currency: money.currencyOf(username),
      version,
      type,
      requestId,
      productId,
      roundId,
      id,
      amount: decimals(one.amount),
      stake: decimals(one.stake),
      before: decimals(one.before),
      after: decimals(one.after),
      others: maybeList(one.others),
      remarks: maybeList(one.remarks),
      by: one.by,
      reason: one.reason,
    };
  }
}

function maybeList(items: readonly string[]): readonly string[] | undefined {
  return items.length === 0 ? undefined : items;
}

/** Formats amounts in the currency of their player. */
class Money {
  private readonly currencies = new Map<string, string>();

  constructor(
    happenings: readonly Happening[],
    players: readonly Player[],
    private readonly scales: ScaleTable,
  ) {
    for (const { username, currency } of happenings)
      if (currency !== undefined) this.currencies.set(username, currency);
    for (const { wallet } of players) this.currencies.set(wallet.username, wallet.currency);
  }

  currencyOf(username: string): string | undefined {
    return this.currencies.get(username);
  }

  /** Uses the default scale when the currency of the player is unknown. */
  format(username: string, units: Units): string {
    return formatUnits(units, this.scales.of(this.currencyOf(username) ?? ''));
  }
}

function playerLine({ shard, lsn, wallet }: Player, scales: ScaleTable): string {
  const { username, currency, balance, version, blocked, openBets } = wallet;
  const facts = [
    `${formatUnits(balance, scales.of(currency))} ${currency}`,
    blocked ? 'blocked' : 'active',
    plural(openBets, 'open bet'),
    `version ${version}`,
  ];
  return `Player ${printable(username)}: ${facts.join(', ')}; shard ${shard} at ${formatLsn(lsn)}`;
}

function playerJson({ shard, lsn, wallet }: Player, scales: ScaleTable): object {
  const { username, currency, balance, version, blocked, openBets } = wallet;
  return {
    record: 'player',
    shard,
    lsn: formatLsn(lsn),
    username,
    currency,
    balance: formatUnits(balance, scales.of(currency)),
    status: blocked ? 'blocked' : 'active',
    openBets,
    version,
  };
}

interface Concerned {
  readonly player: Player;
  readonly item: Transaction;
}

/** The transactions of the round, or with the id, as they are now; oldest first. */
function* concernedNow(players: readonly Player[], question: Question): Generator<Concerned> {
  if (question.type === 'player' || question.type === 'operators') return;
  for (const player of players) {
    for (const item of [...player.wallet.transactions()].reverse()) {
      const { id, round } = item;
      const isIt =
        question.type === 'round'
          ? round.productId === question.productId && round.id === question.roundId
          : id === question.id;
      if (isIt && !item.isTombstone) yield { player, item };
    }
  }
}

function nowTable(players: readonly Player[], question: Question, scales: ScaleTable): string {
  const rows = [...concernedNow(players, question)].map(({ player, item }) => {
    const { username, currency } = player.wallet;
    const amount = (units: Units | undefined) => (units === undefined ? '' : formatUnits(units, scales.of(currency)));
    const { round, kind, id, state, stake, payout, held, paid } = item;
    const amounts = [kind === 'settlement' ? undefined : stake, payout, held, paid].map(amount);
    return [
      username,
      round.productId,
      round.id,
      kind,
      id,
      state,
      ...amounts,
      round.facts.ended ? 'round has ended' : '',
    ];
  });
  if (rows.length === 0) return '';
  const places = new Set(players.map(({ shard, lsn }) => `${shard}:${formatLsn(lsn)}`));
  return `Now, at ${[...places].join(' and ')}:\n\n${formatTable(NOW_COLUMNS, rows)}`;
}

const NOW_COLUMNS = [
  'player',
  'product',
  'round',
  'kind',
  'id',
  'state',
  { right: 'stake' },
  { right: 'payout' },
  { right: 'held' },
  { right: 'paid' },
  '',
];

function transactionJson({ shard, lsn, wallet }: Player, item: Transaction, scales: ScaleTable): object {
  const { username, currency } = wallet;
  const { round, kind, id, state, stake, payout, held, paid, createdMs, updatedMs } = item;
  const amount = (units: Units) => formatUnits(units, scales.of(currency));
  return {
    record: 'transaction',
    shard,
    lsn: formatLsn(lsn),
    username,
    currency,
    kind,
    id,
    productId: round.productId,
    roundId: round.id,
    state,
    stake: kind === 'settlement' ? undefined : amount(stake),
    payout: payout === undefined ? undefined : amount(payout),
    held: amount(held),
    paid: amount(paid),
    hasRoundEnded: round.facts.ended,
    created: isoTime(createdMs),
    updated: isoTime(updatedMs),
  };
}

function entryJson(entry: Entry): object {
  const { shard, lsn, previousLsn, timeMs, nonce, owner, events } = entry;
  return {
    record: 'entry',
    shard,
    lsn: formatLsn(lsn),
    previous: formatLsn(previousLsn),
    time: isoTime(timeMs),
    nonce,
    kind: owner === undefined ? 'batch' : 'fence',
    owner: owner && { host: owner.host, pid: owner.pid, started: isoTime(owner.startedMs) },
    events: events.length,
  };
}

function ownerName({ owner }: Entry): string {
  if (owner === undefined) return 'nobody';
  const loss = owner.afterLoss ? ', which accepted a loss' : '';
  return `process ${owner.pid} on ${printable(owner.host)}, started ${isoTime(owner.startedMs)}${loss}`;
}
