import { formatLsn } from '../../shard/log/lsn.js';
import { formatUnits, type Units } from '../../wallet/amount.js';
import type { CallbackApplied, Change, Event } from '../../wallet/event.js';
import type { EventPlace } from '../happening.js';

/**
 * An event as a line of an export: amounts as text in decimals of the player's currency, our times in ISO 8601, the
 * platform's as it sent them (`…Millis`).
 */
export function lineOf(event: Event, place: EventPlace, currency: string, scale: number): string {
  const { username, version, type, timeMs } = event;
  const decimal = (units: Units) => formatUnits(units, scale);
  return JSON.stringify({
    shard: place.shard,
    lsn: formatLsn(place.lsn),
    index: place.index,
    time: new Date(timeMs).toISOString(),
    username,
    currency,
    version,
    type,
    ...fieldsOf(event, decimal),
  });
}

type Decimal = (units: Units) => string;

function fieldsOf(event: Event, decimal: Decimal): object {
  switch (event.type) {
    case 'player-created':
    case 'player-blocked':
    case 'player-unblocked':
      return { by: event.by };
    case 'player-imported':
      return { id: event.id, balance: decimal(event.balance), by: event.by };
    case 'deposited':
    case 'withdrawn':
    case 'corrected': {
      const { id, amount, before, after, by } = event;
      const reason = event.type === 'corrected' ? event.reason : undefined;
      return { id, amount: decimal(amount), before: decimal(before), after: decimal(after), reason, by };
    }
    case 'rounds-forgotten':
      return { beforeTime: new Date(event.beforeMs).toISOString() };
    case 'callback-applied':
      return callbackFields(event, decimal);
  }
}

function callbackFields(event: CallbackApplied, decimal: Decimal): object {
  const { endpoint, requestId, productId, timestampMillis, before, changes } = event;
  const after = changes.at(-1)?.after ?? before;
  return {
    endpoint,
    requestId,
    productId,
    timestampMillis,
    before: decimal(before),
    after: decimal(after),
    changes: changes.map((change) => changeFields(change, decimal)),
  };
}

/** As it is, but for its amounts and the platform's times. */
function changeFields(change: Change, decimal: Decimal): object {
  const fields: Record<string, unknown> = { ...change };
  for (const name of ['stake', 'payout', 'amount', 'after'] as const) {
    if (name in change) fields[name] = decimal(fields[name] as Units);
  }
  if (change.type === 'bet-voided') {
    fields.takenBack = change.takenBack.map(([id, amount]) => ({ id, amount: decimal(amount) }));
  }
  if ('markMs' in change) {
    delete fields.markMs;
    fields.markMillis = change.markMs;
  }
  return fields;
}
