import { formatLsn } from '../../ports/lsn.js';
import type { Entry } from '../../ports/wal.js';
import type { HistoryItem } from '../../tools/inspect/history-item.js';
import type { Inspection, Player } from '../../tools/inspect/inspect.js';
import type { inspectEntry, Orphan } from '../../tools/inspect/inspect-entry.js';
import type { InspectQuery } from '../../tools/inspect/inspect-query.js';
import { formatUnits, type ScaleTable, type Units } from '../../wallet/amount.js';
import type { Transaction } from '../../wallet/state/round.js';
import { isoTime, plural } from './format.js';
import { printable } from './printable.js';
import { formatTable } from './table.js';

type InspectedEntry = NonNullable<Awaited<ReturnType<typeof inspectEntry>>>;
type InspectedOrphans = Inspection & { readonly orphans: readonly Orphan[] };

/** Maximum number of rows in the human-readable table; --json has no limit. */
const ROWS_MAX = 1000;

const ITEM_COLUMNS = [
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

export function inspectionText(found: Inspection, query: InspectQuery, scales: ScaleTable): string {
  const { items, players, notes } = found;
  const parts = [
    query.type === 'player' ? players.map((player) => playerLine(player, scales)).join('\n') : '',
    itemsTable(items, players, scales),
    nowTable(players, query, scales),
    notes.map((note) => `Note: ${printable(note)}.`).join('\n'),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

export function* inspectionLines(found: Inspection, query: InspectQuery, scales: ScaleTable): Generator<object> {
  const { items, players, notes } = found;
  for (const note of notes) yield { record: 'note', note };
  if (query.type === 'player') for (const player of players) yield playerJson(player, scales);
  yield* itemLines(items, players, scales);
  for (const { player, item } of concernedNow(players, query)) yield transactionJson(player, item, scales);
}

export function entryText({ entry, items, players, notes }: InspectedEntry, scales: ScaleTable): string {
  const { shard, lsn, previousLsn, timeMs, nonce, owner, events } = entry;
  const what = owner === undefined ? plural(events.length, 'event') : `a fence of ${ownerName(entry)}`;
  const parts = [
    `Entry ${formatLsn(lsn)} of shard ${shard}: ${what}, ${isoTime(timeMs)}, nonce ${nonce}, after ${formatLsn(previousLsn)}`,
    itemsTable(items, players, scales),
    notes.map((note) => `Note: ${printable(note)}.`).join('\n'),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

export function* entryLines(found: InspectedEntry, scales: ScaleTable): Generator<object> {
  const { entry, items, players, notes } = found;
  for (const note of notes) yield { record: 'note', note };
  yield entryJson(entry);
  yield* itemLines(items, players, scales);
}

export function orphansText({ orphans, items, players, notes }: InspectedOrphans, scales: ScaleTable): string {
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
    itemsTable(items, players, scales),
    notes.map((note) => `Note: ${printable(note)}.`).join('\n'),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

export function* orphansLines(found: InspectedOrphans, scales: ScaleTable): Generator<object> {
  const { orphans, items, players, notes } = found;
  for (const note of notes) yield { record: 'note', note };
  for (const { entry, isInLog } of orphans) yield { ...entryJson(entry), isInLog };
  yield* itemLines(items, players, scales);
}

function itemsTable(items: readonly HistoryItem[], players: readonly Player[], scales: ScaleTable): string {
  if (items.length === 0) return '';
  const money = new Money(items, players, scales);
  const shown = items.slice(-ROWS_MAX);
  const table = formatTable(
    ITEM_COLUMNS,
    shown.map((one) => itemRow(one, money)),
  );
  const left = items.length - shown.length;
  return left === 0 ? table : `${table}\n\n${left} earlier ones are omitted; --json shows all.`;
}

function itemRow(one: HistoryItem, money: Money): string[] {
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

function* itemLines(items: readonly HistoryItem[], players: readonly Player[], scales: ScaleTable): Generator<object> {
  const money = new Money(items, players, scales);
  for (const one of items) {
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
      others: nonEmptyList(one.others),
      remarks: nonEmptyList(one.remarks),
      by: one.by,
      reason: one.reason,
    };
  }
}

function nonEmptyList(items: readonly string[]): readonly string[] | undefined {
  return items.length === 0 ? undefined : items;
}

/** Formats amounts in the player's currency. */
class Money {
  private readonly currencies = new Map<string, string>();

  constructor(
    items: readonly HistoryItem[],
    players: readonly Player[],
    private readonly scales: ScaleTable,
  ) {
    for (const { username, currency } of items) if (currency !== undefined) this.currencies.set(username, currency);
    for (const { wallet } of players) this.currencies.set(wallet.username, wallet.currency);
  }

  currencyOf(username: string): string | undefined {
    return this.currencies.get(username);
  }

  /** Uses the default scale if the player's currency is unknown. */
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

/** Current transactions of the round, or with the queried id, oldest first. */
function* concernedNow(players: readonly Player[], query: InspectQuery): Generator<Concerned> {
  if (query.type !== 'round' && query.type !== 'transaction') return;
  for (const player of players) {
    for (const item of [...player.wallet.transactions()].reverse()) {
      const { id, round } = item;
      const isIt =
        query.type === 'round' ? round.productId === query.productId && round.id === query.roundId : id === query.id;
      if (isIt && !item.isTombstone) yield { player, item };
    }
  }
}

function nowTable(players: readonly Player[], query: InspectQuery, scales: ScaleTable): string {
  const rows = [...concernedNow(players, query)].map(({ player, item }) => {
    const { username, currency } = player.wallet;
    const amount = (units: Units | undefined) => (units === undefined ? '' : formatUnits(units, scales.of(currency)));
    const { round, kind, id, state, stake, payout, held, paid } = item;
    const amounts = [kind === 'settlement' ? undefined : stake, payout, held, paid].map(amount);
    const note = item.isReopened ? 'since a rollback' : round.ended ? 'round has ended' : '';
    return [username, round.productId, round.id, kind, id, state, ...amounts, note];
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
    openSince: item.isReopened ? 'rollback' : undefined,
    stake: kind === 'settlement' ? undefined : amount(stake),
    payout: payout === undefined ? undefined : amount(payout),
    held: amount(held),
    paid: amount(paid),
    hasRoundEnded: round.ended,
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
  const loss = owner.afterLoss
    ? ', which accepted a loss'
    : owner.acceptsArchiveLoss
      ? ', which accepted the loss of archived rounds'
      : '';
  return `process ${owner.pid} on ${printable(owner.host)}, started ${isoTime(owner.startedMs)}${loss}`;
}
