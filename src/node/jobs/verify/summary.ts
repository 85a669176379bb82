import type { VerifySummary } from '../../../admin/admin-deps.js';
import type { VerifyReportJson } from '../../../tools/verify/report-json.js';
import type { ShardReport } from '../../../tools/verify/verify.js';

/** Maximum numbers of currencies and accepted losses in the stored report. */
const CURRENCIES_MAX = 200;
const ACCEPTED_MAX = 20;

/** The report without its per-shard part. Its size is limited, regardless of the number of shards and currencies. */
export function summaryOf({ shards, books, found, findings }: VerifyReportJson): VerifySummary {
  const sum = (count: (report: ShardReport) => number | undefined) =>
    shards.reduce((all, report) => all + (count(report) ?? 0), 0);
  const currencies = Object.entries(books);
  return {
    entries: sum(({ entries }) => entries),
    events: sum(({ events }) => events),
    players: sum(({ players }) => players),
    snapshots: sum(({ snapshots }) => snapshots),
    compared: sum(({ compared }) => compared),
    movedOn: sum(({ movedOn }) => movedOn),
    accepted: shards.flatMap(({ accepted }) => accepted).slice(0, ACCEPTED_MAX),
    books: currencies.slice(0, CURRENCIES_MAX).map(([currency, { players, ...sums }]) => ({ currency, players, sums })),
    currencies: currencies.length,
    found: Object.values(found).reduce((all, count) => all + count, 0),
    findings,
  };
}
