import { X509Certificate } from 'node:crypto';
import { parse } from 'lossless-json';
import { UNKNOWN_TOKEN } from '../../listener/token-proof.js';
import type { SnapshotResult } from '../../snapshot/snapshotter.js';
import type { Undone } from '../../wallet/undo-id.js';
import { type Exchange, exchangeWith, ProvenServer, type Reply, UnprovenServer } from '../proven-server.js';
import { ToolError } from '../store-reader.js';
import type { PlayerSource, ServerPlayer } from './server-comparison.js';

const TIMEOUT_MS = 30_000;
const SNAPSHOTS_TIMEOUT_MS = 600_000;
const TEXT_MAX = 200;
/** HTTP status of a request that waits for the approval of a second operator. */
const PENDING = 202;
/** Statuses for a single player or amount: forbidden, not found, conflict, or too many requests. */
const REFUSALS: ReadonlySet<number> = new Set([403, 404, 409, 429]);

interface Page {
  readonly players: readonly { username: string; currency: string; version: string; balance: string }[];
  readonly next: string | null;
}

/** The state of the process and of each of its shards. */
interface Readiness {
  readonly status: string;
  readonly shards: readonly { readonly shard: number; readonly state: string; readonly reason?: string }[];
}

/** The answer of a cluster endpoint, as described in the OpenAPI document. */
export interface ClusterAnswer {
  readonly name: string;
  readonly seesTable: boolean;
  readonly nodes: readonly ClusterNodeAnswer[];
  readonly shards: readonly ClusterShardAnswer[];
  readonly plan: { readonly why: string; readonly by: string; readonly format: number } | null;
}

export interface ClusterNodeAnswer {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly zone: string;
  readonly version: string;
  readonly state: string;
  readonly isThis: boolean;
  readonly isLinked: boolean;
  readonly isFull: boolean;
  readonly shards: number;
}

export interface ClusterShardAnswer {
  readonly shard: number;
  readonly owner: string | null;
  readonly planned: string | null;
  readonly followers: readonly string[];
  readonly lsn: string | null;
}

interface ServedStore {
  readonly storeId: string;
  /** Ids of the stores from which this store was restored. An older walletd does not report them. */
  readonly restoredFrom: readonly string[];
}

/** A correction that reverses an operation or a credit. */
export interface UndoCorrection {
  readonly undoes: Undone;
  /** An amount as a signed decimal. */
  readonly amount: string;
  readonly reason: string;
  readonly allowNegativeBalance: boolean;
}

/** The outcome of a correction. `pending` means that it waits for a second operator. */
export type Corrected = 'done' | 'done before' | 'pending' | Refused;

interface Refused {
  readonly refused: string;
  /** True if the approval was refused or has expired, so that the id cannot be used again. */
  readonly isClosed: boolean;
}

/**
 * The client for the operator API of a running server. Without TLS, the server receives the token only after it has
 * proved that it knows the token. With TLS, the server's certificate is the proof.
 */
export class OperatorApi implements PlayerSource {
  /** Undefined with TLS, or if there is no token to protect. */
  private readonly proven: ProvenServer | undefined;

  constructor(
    /** URL without a trailing slash. */
    readonly url: string,
    private readonly token: string | null,
    /**
     * The certificate (PEM) that this server must present, whatever name is in it. If undefined, the usual checks
     * apply.
     */
    private readonly certificate?: Buffer,
    /** Time limit in ms for every answer except to a snapshot request. */
    private readonly timeoutMs = TIMEOUT_MS,
  ) {
    if (token !== null && !url.startsWith('https:')) this.proven = new ProvenServer(url, token);
  }

  /** True if the server answers. */
  async answers(): Promise<boolean> {
    try {
      await exchangeWith(
        this.url,
        { method: 'GET', path: '/livez', headers: {}, timeoutMs: this.timeoutMs },
        { tls: trustOf(this.certificate) },
      );
      return true;
    } catch {
      return false;
    }
  }

  /**
   * The store being served; undefined if the server is not walletd, or is an old release that does not name its store.
   */
  async store(): Promise<ServedStore | undefined> {
    let reply: Reply;
    try {
      reply = await this.reply('GET', '/v1/shards/0/players?limit=1', this.timeoutMs);
    } catch (error) {
      if (error instanceof UnprovenServer && isOtherProgram(error.reply)) return undefined;
      throw error;
    }
    const { status, text } = reply;
    if (status === 404) return undefined;
    if (status >= 300) throw this.refused(status, text);
    try {
      const { storeId, restoredFrom = [] } = JSON.parse(text) as Partial<ServedStore>;
      return typeof storeId === 'string' && Array.isArray(restoredFrom) ? { storeId, restoredFrom } : undefined;
    } catch {
      return undefined;
    }
  }

  async players(shard: number): Promise<readonly ServerPlayer[]> {
    const players: ServerPlayer[] = [];
    let after: string | null = '0';
    while (after !== null) {
      const text = await this.ask('GET', `/v1/shards/${shard}/players?after=${after}`, this.timeoutMs);
      // Read numbers as text, so that they keep all their digits.
      const page = this.read<Page>(text, 'players', (json) => parse(json, undefined, (digits) => digits) as Page);
      for (const { version, ...player } of page.players) players.push({ ...player, version: Number(version) });
      after = page.next;
    }
    return players;
  }

  /** Resolves when the snapshots have been taken. The larger a shard, the longer its snapshot takes. */
  async takeSnapshots(): Promise<readonly SnapshotResult[]> {
    const text = await this.ask('POST', '/v1/snapshots', SNAPSHOTS_TIMEOUT_MS);
    return this.read<{ snapshots: SnapshotResult[] }>(text, 'snapshots', (json) => JSON.parse(json)).snapshots;
  }

  /** The balance and currency of a player, with all digits; undefined if the player does not exist. */
  async player(username: string): Promise<Pick<ServerPlayer, 'currency' | 'balance'> | undefined> {
    const { status, text } = await this.reply('GET', `/v1/players/${encodeURIComponent(username)}`, this.timeoutMs);
    if (status === 404) return undefined;
    if (status >= 300) throw this.refused(status, text);
    return parse(text, undefined, (digits) => digits) as Pick<ServerPlayer, 'currency' | 'balance'>;
  }

  /**
   * Sends a correction. Throws a `ToolError` if there is no answer, or if the server does not support such corrections.
   */
  async correct(username: string, correction: UndoCorrection): Promise<Corrected> {
    const { amount, ...rest } = correction;
    // Insert the amount as text, because it must be a JSON number with all its digits.
    const body = `{"amount":${amount},${JSON.stringify(rest).slice(1)}`;
    const path = `/v1/players/${encodeURIComponent(username)}/corrections`;
    const { status, text } = await this.reply('POST', path, this.timeoutMs, body);
    if (status === PENDING) return 'pending';
    if (status < 300) return isRepeated(text) ? 'done before' : 'done';
    if (REFUSALS.has(status)) return { refused: detailOf(text), isClosed: codeOf(text) === 'approval-closed' };
    throw this.refused(status, text);
  }

  /** Calls a cluster endpoint. Throws a `ToolError` with the server's own sentence if the server refuses. */
  async cluster(method: 'GET' | 'POST', path: string, body?: object): Promise<ClusterAnswer> {
    const sent = body === undefined ? undefined : JSON.stringify(body);
    const { status, text } = await this.reply(method, path, this.timeoutMs, sent);
    if (status >= 300) throw this.refused(status, text);
    return this.read<ClusterAnswer>(text, 'shards', (json) => JSON.parse(json));
  }

  /** The answer of /readyz, whether or not the server is ready. */
  async readiness(): Promise<Readiness> {
    const { status, text } = await this.reply('GET', '/readyz', this.timeoutMs);
    if (status >= 300 && status !== 503) throw this.refused(status, text);
    return this.read<Readiness>(text, 'shards', (json) => JSON.parse(json));
  }

  /** The effective settings, with secrets hidden. */
  async settings(): Promise<ReadonlyMap<string, unknown>> {
    const text = await this.ask('GET', '/v1/settings', this.timeoutMs);
    const { settings } = this.read<{ settings: readonly { setting: string; value: unknown }[] }>(
      text,
      'settings',
      (json) => JSON.parse(json),
    );
    return new Map(settings.map(({ setting, value }) => [setting, value]));
  }

  /** Metrics scrape in the Prometheus text format. */
  async metrics(): Promise<string> {
    return await this.ask('GET', '/metrics', this.timeoutMs);
  }

  /** Parses an answer that may come from a program other than walletd. */
  private read<T>(text: string, list: keyof T, readJson: (text: string) => T): T {
    try {
      const value = readJson(text);
      if (Array.isArray(value[list])) return value;
    } catch {
      // Report invalid JSON with the same error as a missing list.
    }
    throw new ToolError(`the program at ${this.url} does not answer like walletd`);
  }

  private async ask(method: string, path: string, timeoutMs: number): Promise<string> {
    const { status, text } = await this.reply(method, path, timeoutMs);
    if (status >= 300) throw this.refused(status, text);
    return text;
  }

  /** The answer with any status. Throws a `ToolError` if there is none in time, or before `stop` is aborted. */
  async reply(method: string, path: string, timeoutMs: number, body?: string, stop?: AbortSignal): Promise<Reply> {
    const headers: Record<string, string> = body === undefined ? {} : { 'Content-Type': 'application/json' };
    const exchange = { method, path, headers, body, timeoutMs, stop };
    return await (this.proven?.ask(exchange) ?? this.send(exchange)).catch((error: Error) => {
      if (error instanceof UnprovenServer && isExplainedByWalletd(error.reply)) {
        throw this.refused(error.reply.status, error.reply.text);
      }
      if (error instanceof ToolError) throw error;
      const why =
        error.name === 'AbortError' || error.name === 'TimeoutError'
          ? `it did not answer within ${timeoutMs / 1000} s: the server or the network hangs`
          : error.message;
      throw new ToolError(`cannot reach the server at ${this.url}: ${why}`, { cause: error });
    });
  }

  refused(status: number, text: string): ToolError {
    return new ToolError(`the server at ${this.url} answers ${status}: ${detailOf(text)}`);
  }

  /** Sends without a proof, because there is no token to protect or the certificate is the proof. */
  private async send(exchange: Exchange): Promise<Reply> {
    const headers = {
      ...exchange.headers,
      ...(this.token !== null && { Authorization: `Bearer ${this.token}` }),
    };
    const { reply } = await exchangeWith(this.url, { ...exchange, headers }, { tls: trustOf(this.certificate) });
    return reply as Reply;
  }
}

/**
 * True for refusals for which walletd's own message is the better explanation: unknown token, too many requests, or
 * still starting.
 */
function isExplainedByWalletd({ status, text }: Reply): boolean {
  return status === 429 || status === 503 || codeOf(text) === UNKNOWN_TOKEN;
}

/** True if the answer comes from a program that is neither walletd nor an older release of it. */
function isOtherProgram({ status, text }: Reply): boolean {
  return (status === 404 && codeOf(text) === undefined) || status < 300;
}

/** Do not compare names: the server is called at a local address, but its certificate contains its public name. */
function trustOf(certificate: Buffer | undefined): object {
  if (certificate === undefined) return {};
  const { fingerprint256 } = new X509Certificate(certificate);
  const checkServerIdentity = (_host: string, shown: { fingerprint256: string }) =>
    shown.fingerprint256 === fingerprint256
      ? undefined
      : new Error('its certificate differs from the one in the settings');
  return { ca: certificate, allowPartialTrustChain: true, checkServerIdentity };
}

function isRepeated(text: string): boolean {
  return fieldsOf<{ repeated: unknown }>(text).repeated === true;
}

/** The code of a refusal; undefined if the text is no refusal of walletd. */
export function codeOf(text: string): unknown {
  return fieldsOf<{ code: unknown }>(text).code;
}

/** Fields of a JSON answer; empty if the answer is not JSON. */
function fieldsOf<T>(text: string): Partial<T> {
  try {
    return JSON.parse(text) as Partial<T>;
  } catch {
    return {};
  }
}

/** The detail of an error answer from walletd, or the beginning of an answer from any other server. */
function detailOf(text: string): string {
  try {
    return String((JSON.parse(text) as { detail?: unknown }).detail);
  } catch {
    return text.slice(0, TEXT_MAX);
  }
}
