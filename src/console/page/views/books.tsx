import { useEffect, useId, useState } from 'preact/hooks';
import { formatAmount } from '../../amount.js';
import { post } from '../api.js';
import { plain } from '../json.js';
import { Empty, Failed, Loading, sentence } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { Time } from '../parts/time.js';
import { useGet } from '../use-call.js';
import { count, duration } from '../words.js';
import { BOOK_LINES, type BookLine, type Ended, type Finding, type Report, type Verification } from './verification.js';

const EVERY_MS = 1000;

/** Books as of the last verification, and a button that starts a new verification. */
export function Books({ mayChange }: { readonly mayChange: boolean }) {
  const { answer, error, isWaiting, again } = useGet<Verification>(() => '/v1/verify');
  const isRunning = answer?.running != null;
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => !document.hidden && again(), EVERY_MS);
    return () => clearInterval(timer);
  }, [isRunning, again]);
  return (
    <section aria-label="Books">
      <h2 class="part">Books</h2>
      <p class="hint">
        A verification replays the log of every shard, checks that the movements explain each balance, and compares it
        with the balance being served. walletd keeps answering meanwhile.
      </p>
      {mayChange && <Begin isRunning={isRunning} onBegun={again} />}
      {error && <Failed error={error} again={again} />}
      {!answer && isWaiting && <Loading what="the last verification" />}
      {answer?.running && <Running of={answer.running} />}
      {answer?.last && <Result of={answer.last} />}
      {answer && !answer.running && !answer.last && (
        <Empty>
          No verification has run since this node started.{' '}
          {mayChange ? 'Start one above.' : 'An operator with the role “operate” can start one.'}
        </Empty>
      )}
    </section>
  );
}

function Begin({ isRunning, onBegun }: { readonly isRunning: boolean; readonly onBegun: () => void }) {
  const id = useId();
  const [isDeep, setDeep] = useState(false);
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<Error>();
  const begin = async () => {
    setSending(true);
    setError(undefined);
    await post('/v1/verify', { deep: isDeep }).catch(setError);
    setSending(false);
    onBegun();
  };
  return (
    <>
      <div class="actions">
        <button type="button" class="main" disabled={isRunning || isSending} onClick={begin}>
          {isRunning ? 'Verifying…' : 'Verify the store now'}
        </button>
        <label class="check" for={id}>
          <input
            id={id}
            type="checkbox"
            checked={isDeep}
            disabled={isRunning}
            onChange={({ currentTarget }) => setDeep(currentTarget.checked)}
          />
          From the oldest entry, checking every snapshot
        </label>
      </div>
      {error && <Failed error={error} />}
    </>
  );
}

function Running({ of: { startedMillis, by, done, total } }: { readonly of: NonNullable<Verification['running']> }) {
  const [read, all] = [plain(done), plain(total)];
  return (
    <div class="note" role="status">
      <p>
        <strong>Verifying</strong> since <Time ms={plain(startedMillis)} />, started by <bdi>{by.name}</bdi>
      </p>
      <progress aria-label="Log entries read" {...(all > 0 && { max: all, value: read })} />
      <p>
        {all > 0 ? `${count(read)} of ${count(all)} entries of the log` : 'Reading snapshots'}. You can leave this page.
      </p>
    </div>
  );
}

function Result({ of: last }: { readonly of: Ended }) {
  const { endedMillis, startedMillis, by, deep, failure, report } = last;
  const took = duration(plain(endedMillis) - plain(startedMillis));
  return (
    <>
      {report === null ? (
        <div class="note bad" role="alert">
          <p>
            <strong>The store could not be verified.</strong> {sentence(failure ?? '')}
          </p>
        </div>
      ) : (
        <Verdict of={report} />
      )}
      <p class="foot">
        {deep ? 'Verified from the oldest entry' : 'Verified'}: <Time ms={plain(endedMillis)} />, took {took}, started
        by <bdi>{by.name}</bdi>
      </p>
      {report && <Findings of={report} />}
      {report && report.books.length > 0 && <BooksTable of={report} />}
      {report && report.books.length === 0 && <Empty>There were no players yet.</Empty>}
    </>
  );
}

function Verdict({ of: { found, entries, players, compared, movedOn, accepted } }: { readonly of: Report }) {
  const wrong = plain(found);
  const passed = plain(movedOn) === 0 ? '' : `; ${count(plain(movedOn))} more changed meanwhile`;
  return (
    <div class={wrong === 0 ? 'note good' : 'note bad'} role={wrong === 0 ? 'status' : 'alert'}>
      <p>
        <strong>
          {wrong === 0
            ? 'No differences found.'
            : `${count(wrong)} ${wrong === 1 ? 'difference' : 'differences'} found.`}
        </strong>{' '}
        Read {count(plain(players))} players and {count(plain(entries))} log entries; compared {count(plain(compared))}{' '}
        served balances{passed}.
      </p>
      {accepted.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      {wrong > 0 && (
        <p>Do not restart walletd before someone has investigated: the runbook explains each kind of difference.</p>
      )}
    </div>
  );
}

const KINDS: Readonly<Record<string, string>> = {
  log: 'Log',
  snapshot: 'Snapshot',
  event: 'Event',
  wallet: 'Wallet',
  books: 'Books',
  archive: 'Archive',
  server: 'Served balances',
};
const FINDING_COLUMNS: readonly Column<Finding>[] = [
  { title: 'Area', text: ({ type }) => KINDS[type] ?? type },
  { title: 'Difference', text: ({ message }) => message, show: ({ message }) => <bdi>{message}</bdi> },
];

function Findings({ of: { found, findings } }: { readonly of: Report }) {
  if (findings.length === 0) return null;
  const more = plain(found) - findings.length;
  return (
    <>
      <Table caption="Differences" columns={FINDING_COLUMNS} rows={findings} keyOf={({ message }) => message} />
      {more > 0 && (
        <p class="hint">
          And {count(more)} more of the same kinds; <code>walletd verify</code> counts them all.
        </p>
      )}
    </>
  );
}

function BooksTable({ of: { books, currencies } }: { readonly of: Report }) {
  const columns: readonly Column<BookLine>[] = [
    { title: 'Books', text: (line) => BOOK_LINES[line] },
    ...books.map(
      (one): Column<BookLine> => ({
        title: one.currency,
        text: (line) => one[line].exact,
        show: (line) => (
          <span class={plain(one[line]) === 0 ? 'zero' : line === 'difference' ? 'wrong' : undefined}>
            {line === 'players' ? count(plain(one[line])) : formatAmount(one[line].exact, one.currency)}
          </span>
        ),
        isNumber: true,
      }),
    ),
  ];
  const more = plain(currencies) - books.length;
  return (
    <>
      <div class="narrow">
        <Table
          caption="Books of the last verification"
          columns={columns}
          rows={Object.keys(BOOK_LINES) as BookLine[]}
          keyOf={(line) => line}
        />
      </div>
      <p class="hint">
        Signs are from the players’ side: stakes are negative. Opening balances come from the snapshots at which the
        replay started.{more > 0 && ` ${count(more)} more currencies are not shown.`}
      </p>
    </>
  );
}
