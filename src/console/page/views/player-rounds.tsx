import { partOf } from '../api.js';
import { type Exact, plain } from '../json.js';
import { amountColumn } from '../parts/amount.js';
import { More } from '../parts/more.js';
import { Empty, Failed, Loading } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { Time, utcOf } from '../parts/time.js';
import { usePages } from '../use-pages.js';
import { useSearch } from '../use-search.js';
import { inWords, NONE } from '../words.js';
import type { Transaction } from './player-transactions.js';
import type { Player } from './players.js';
import { SearchTile } from './search-tile.js';

interface Message {
  readonly type: 'place' | 'settle' | 'adjust' | 'void' | 'cancel' | 'rollback';
  readonly kind: Transaction['kind'] | 'reward' | 'debit' | 'credit' | 'round';
  readonly version: Exact;
  readonly id?: string;
  readonly requestId?: string;
  readonly timeMillis?: Exact;
  readonly amount?: Exact;
  readonly balanceBefore: Exact;
  readonly balanceAfter: Exact;
  readonly isWaiting: boolean;
  readonly movesNothing: boolean;
}

interface Round {
  readonly productId: string;
  readonly roundId: string;
  readonly transactions: readonly Transaction[];
  readonly messages: readonly Message[];
  /** True if the transaction has more messages than fit on a page. */
  readonly isCut: boolean;
}

/** A log record of a message. */
interface LoggedEvent {
  readonly version: Exact;
  readonly requestId?: string;
  readonly timeMillis: Exact;
  readonly shard: Exact;
  readonly lsn: string;
}

interface Row extends Message {
  readonly round: Round;
  /** The position of the message among the displayed messages of its round. */
  readonly place: number;
  readonly logged: LoggedEvent | undefined;
}

const ACTIONS: Readonly<Record<Message['type'], string>> = {
  place: 'placed',
  settle: 'settled',
  adjust: 'adjusted',
  void: 'voided',
  cancel: 'cancelled',
  rollback: 'rolled back',
};

/** Replacements for combinations of kind and type whose literal wording would be unclear. */
const WORDS: Readonly<Record<string, string>> = {
  'settlement settle': 'round settled',
  'tip place': 'tip given',
  'reward settle': 'reward paid',
  'debit place': 'debit taken',
  'credit settle': 'credit paid',
};

const columnsIn = (currency: string): readonly Column<Row>[] => [
  {
    title: 'Round',
    text: ({ round }) => round.roundId,
    // Show the round once for all its messages.
    show: ({ round, place }) => place === 0 && <RoundName of={round} />,
  },
  {
    title: 'Product',
    text: ({ round }) => round.productId,
    show: ({ round, place }) => place === 0 && <bdi class="product">{round.productId}</bdi>,
  },
  {
    title: 'Time',
    text: (row) => (timeOf(row) === undefined ? NONE : utcOf(plain(timeOf(row) as Exact))),
    show: (row) => {
      const time = timeOf(row);
      return time === undefined ? NONE : <Time ms={plain(time)} />;
    },
  },
  { title: 'Event', text: whatOf, show: (row) => <span class="what">{inWords(whatOf(row))}</span> },
  { title: 'ID', text: ({ id }) => id ?? NONE, show: ({ id }) => <bdi class="id">{id ?? NONE}</bdi> },
  amountColumn(
    'Amount',
    ({ amount }) => amount,
    () => currency,
  ),
  amountColumn(
    'Balance before',
    ({ balanceBefore }) => balanceBefore,
    () => currency,
  ),
  amountColumn(
    'Balance after',
    ({ balanceAfter }) => balanceAfter,
    () => currency,
  ),
  { title: 'Request ID', text: requestOf, show: (row) => <bdi class="id">{requestOf(row)}</bdi> },
];

const ENTRY: Column<Row> = {
  title: 'Entry',
  text: ({ logged }) => (logged === undefined ? NONE : `${logged.shard.exact}:${logged.lsn}`),
};

/** Rounds of a player, message by message, newest round first. */
export function PlayerRounds({ player: { username, currency } }: { readonly player: Player }) {
  const path = (what: string) => `/v1/players/${partOf(username)}/${what}`;
  const pages = usePages<Round, { rounds: readonly Round[]; next: string | null }>(
    (cursor) => path(`rounds${cursor === null ? '' : `?before=${cursor}`}`),
    ({ rounds }) => rounds,
  );
  const oldest = pages.items
    .flatMap(({ messages }) => messages.map(({ version }) => plain(version)))
    .reduce((least, version) => Math.min(least, version), Number.POSITIVE_INFINITY);
  const log = useSearch<LoggedEvent>(username, () => path(`log?from=${oldest}`));
  const rows = rowsOf(pages.items, new Map(log.hits.map((event) => [event.version.exact, event])));
  return (
    <>
      {pages.error && <Failed error={pages.error} again={pages.again} />}
      {rows.length > 0 && (
        <>
          <Table
            caption={`Rounds in ${currency}`}
            columns={[...columnsIn(currency), ...(log.hits.length > 0 ? [ENTRY] : [])]}
            rows={rows}
            keyOf={({ round, place }) => JSON.stringify([round.productId, round.roundId, place])}
          />
          <p class="hint">
            Messages that changed something, from memory and archive. Repeated and refused messages change nothing; only
            the server log records them (<code>log.callbacks</code>).
            {pages.items.some(({ isCut }) => isCut) &&
              ' Of a transaction with very many messages, only the newest are shown.'}
          </p>
          <More of={pages} />
          <section class="places" aria-label="Details from the log">
            <SearchTile name="Events in the log" of={log}>
              Request IDs and the time of every message. Reads the whole log of the player’s shard.
            </SearchTile>
          </section>
        </>
      )}
      {rows.length === 0 && pages.isWaiting && <Loading what="rounds" />}
      {rows.length === 0 && !pages.isWaiting && !pages.error && (
        <Empty>No rounds yet, or they are older than the retention period.</Empty>
      )}
    </>
  );
}

/** Joins the parts of a round that was split across pages. */
function rowsOf(parts: readonly Round[], events: ReadonlyMap<string, LoggedEvent>): Row[] {
  const rounds = new Map<string, Round[]>();
  for (const part of parts) {
    const key = JSON.stringify([part.productId, part.roundId]);
    rounds.set(key, [...(rounds.get(key) ?? []), part]);
  }
  return [...rounds.values()].flatMap((same) => {
    const [first] = same as [Round, ...Round[]];
    const round = { ...first, transactions: same.flatMap(({ transactions }) => transactions) };
    return messagesOf(same).map((message, place) => ({
      ...message,
      round,
      place,
      logged: events.get(message.version.exact),
    }));
  });
}

/**
 * Messages of a round, oldest first. The parts arrive newest first, and each part repeats the messages about the
 * complete round.
 */
function messagesOf(parts: readonly Round[]): Message[] {
  const ofRound = new Set<string>();
  return [...parts]
    .reverse()
    .flatMap(({ messages }) => messages)
    .filter(({ kind, version, type, id, requestId }) => {
      if (kind !== 'round') return true;
      const key = JSON.stringify([version.exact, type, id, requestId]);
      if (ofRound.has(key)) return false;
      ofRound.add(key);
      return true;
    })
    .sort((a, b) => plain(a.version) - plain(b.version));
}

function RoundName({ of: { roundId, transactions } }: { readonly of: Round }) {
  const isOpen = transactions.some(({ state }) => state === 'OPEN' || state === 'WAITING');
  return (
    <>
      <bdi class="id">{roundId}</bdi> {isOpen && <span class="badge open">Open</span>}
    </>
  );
}

function whatOf({ type, kind, isWaiting, movesNothing }: Message): string {
  const notes = [...(isWaiting ? ['waiting'] : []), ...(movesNothing ? ['no money moved'] : [])];
  const words = WORDS[`${kind} ${type}`] ?? `${kind} ${ACTIONS[type]}`;
  return `${words}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`;
}

function timeOf({ timeMillis, logged }: Row): Exact | undefined {
  return logged?.timeMillis ?? timeMillis;
}

function requestOf({ requestId, logged }: Row): string {
  return logged?.requestId ?? requestId ?? NONE;
}
