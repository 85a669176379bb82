import { readFileSync } from 'node:fs';
import { messageOf } from '../base/message-of.js';
import { writtenByNewer } from '../base/written-by-newer.js';
import { ConfigError } from '../config/config-error.js';
import type { AuditHead } from '../wallet/audit-chain.js';

/**
 * Audit chain heads from an earlier `verify --json` report. That report was stored out of reach of everyone with write
 * access to the store.
 */
export interface NotedAudit {
  readonly heads: ReadonlyMap<number, AuditHead>;
  /** Throws if the heads belong to a different store. */
  mustBeOf(storeId: string): void;
}

/** The format of the report. A report without a `format` has format 1. */
const FORMAT = 1;

/** Reads the heads from a report. Throws a `ConfigError` that names the file and the mistake in it. */
export function readNoted(file: string): NotedAudit {
  const refuse = (why: string) =>
    new ConfigError(`--noted ${file}: ${why}; it must be the output of \`walletd verify --json\``);
  let report: unknown;
  try {
    report = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw refuse(messageOf(error));
  }
  const { storeId, shards, format = FORMAT } = (report ?? {}) as Readonly<Record<string, unknown>>;
  if (Number(format) > FORMAT) throw refuse(writtenByNewer('the report', `format ${format}`));
  if (typeof storeId !== 'string' || !Array.isArray(shards)) throw refuse('it has no `storeId` and `shards`');
  const heads = new Map<number, AuditHead>();
  for (const { shard, audit } of shards as { readonly shard: unknown; readonly audit?: unknown }[]) {
    if (audit === undefined) continue;
    if (typeof shard !== 'number' || !isHead(audit)) throw refuse(`its shard ${String(shard)} has no audit head`);
    heads.set(shard, audit);
  }
  if (heads.size === 0) throw refuse('none of its shards has an audit head');
  const mustBeOf = (other: string) => {
    if (other !== storeId) throw refuse(`it belongs to store ${storeId}, not to ${other}`);
  };
  return { heads, mustBeOf };
}

function isHead(value: unknown): value is AuditHead {
  const { since, count, hash } = (value ?? {}) as Partial<Record<keyof AuditHead, unknown>>;
  return (
    typeof since === 'string' && Number.isSafeInteger(count) && typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash)
  );
}
