import { parse } from 'lossless-json';
import type { SnapshotResult } from '../shard/snapshotter.js';
import type { PlayerSource, ToldPlayer } from './server-comparison.js';
import { ToolError } from './store-reader.js';

const TIMEOUT_MS = 30_000;
const SNAPSHOTS_TIMEOUT_MS = 600_000;
const TEXT_MAX = 200;

interface Page {
  readonly players: readonly { username: string; currency: string; version: string; balance: string }[];
  readonly next: string | null;
}

/** A running server, asked over its operator API. */
export class OperatorApi implements PlayerSource {
  constructor(
    /** Without a slash at its end. */
    readonly url: string,
    private readonly token: string | null,
  ) {}

  /** False when nobody answers there. */
  async answers(): Promise<boolean> {
    try {
      await fetch(`${this.url}/livez`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
      return true;
    } catch {
      return false;
    }
  }

  async players(shard: number): Promise<readonly ToldPlayer[]> {
    const players: ToldPlayer[] = [];
    let after: string | null = '0';
    while (after !== null) {
      const page: Page = await this.get(`/v1/shards/${shard}/players?after=${after}`);
      for (const { version, ...player } of page.players) players.push({ ...player, version: Number(version) });
      after = page.next;
    }
    return players;
  }

  /** Resolves when they are there, which can take as long as a shard is large. */
  async takeSnapshots(): Promise<readonly SnapshotResult[]> {
    const text = await this.ask('POST', '/v1/snapshots', SNAPSHOTS_TIMEOUT_MS);
    return (JSON.parse(text) as { snapshots: SnapshotResult[] }).snapshots;
  }

  /** Numbers come as text, digit for digit. */
  private async get<T>(path: string): Promise<T> {
    return parse(await this.ask('GET', path, TIMEOUT_MS), undefined, (digits) => digits) as T;
  }

  private async ask(method: string, path: string, timeoutMs: number): Promise<string> {
    const headers: Record<string, string> = this.token === null ? {} : { Authorization: `Bearer ${this.token}` };
    let response: Response;
    try {
      response = await fetch(this.url + path, { method, headers, signal: AbortSignal.timeout(timeoutMs) });
    } catch (error) {
      const { cause, message } = error as Error & { cause?: Error };
      throw new ToolError(`cannot ask the server at ${this.url}: ${cause?.message ?? message}`);
    }
    const text = await response.text();
    if (!response.ok) throw new ToolError(`the server at ${this.url} answers ${response.status}: ${detailOf(text)}`);
    return text;
  }
}

/** Of an error answer of walletd; of any other server the beginning of what it says. */
function detailOf(text: string): string {
  try {
    return String((JSON.parse(text) as { detail?: unknown }).detail);
  } catch {
    return text.slice(0, TEXT_MAX);
  }
}
