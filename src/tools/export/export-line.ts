import { formatLsn } from '../../ports/lsn.js';
import { formatUnits, type Units } from '../../wallet/amount.js';
import type { CallbackApplied, Change, Event } from '../../wallet/event.js';
import { changeKind, type Decimal, type EventAddress, eventKind } from '../event-kinds.js';

/**
 * Formats an event as one line of an export. Amounts are decimal text with the decimals of the player's currency. Times
 * from walletd are in ISO 8601. Times from the platform are printed as they were sent (`…Millis`).
 */
export function lineOf(event: Event, address: EventAddress, currency: string, scale: number): string {
  const { username, version, type, timeMs } = event;
  const decimal = (units: Units) => formatUnits(units, scale);
  return JSON.stringify({
    shard: address.shard,
    lsn: formatLsn(address.lsn),
    index: address.index,
    time: new Date(timeMs).toISOString(),
    username,
    currency,
    version,
    type,
    ...fieldsOf(event, decimal),
  });
}

function fieldsOf(event: Event, decimal: Decimal): object {
  return event.type === 'callback-applied' ? callbackFields(event, decimal) : eventKind(event).line(event, decimal);
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

/**
 * Returns the fields of a change for the export. Amounts become decimals, times from the platform get their export
 * names, and fields that are used only in memory are left out.
 */
function changeFields(change: Change, decimal: Decimal): object {
  const { amounts, line } = changeKind(change);
  const fields: Record<string, unknown> = {
    ...change,
    keepsRequest: undefined,
    after: decimal(change.after),
    ...line?.(change, decimal),
  };
  for (const name of amounts) fields[name] = decimal(fields[name] as Units);
  return fields;
}
