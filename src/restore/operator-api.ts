import { X509Certificate } from 'node:crypto';
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
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

interface Reply {
  readonly status: number;
  readonly text: string;
}

/** A running server, asked over its operator API. */
export class OperatorApi implements PlayerSource {
  constructor(
    /** Without a slash at its end. */
    readonly url: string,
    private readonly token: string | null,
    /** PEM: the certificate that this very server has, whatever name it is asked under. Undefined: as usual. */
    private readonly certificate?: Buffer,
  ) {}

  /** False when nobody answers there. */
  async answers(): Promise<boolean> {
    try {
      await this.send('GET', '/livez', {}, TIMEOUT_MS);
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
    const { status, text } = await this.send(method, path, headers, timeoutMs).catch((error: Error) => {
      throw new ToolError(`cannot ask the server at ${this.url}: ${error.message}`);
    });
    if (status >= 300) throw new ToolError(`the server at ${this.url} answers ${status}: ${detailOf(text)}`);
    return text;
  }

  private send(method: string, path: string, headers: Record<string, string>, timeoutMs: number): Promise<Reply> {
    const request = this.url.startsWith('https:') ? tlsRequest : plainRequest;
    const signal = AbortSignal.timeout(timeoutMs);
    return new Promise((resolve, reject) => {
      const options = { method, headers, signal, ...trustOf(this.certificate) };
      const sent = request(this.url + path, options, (res) => {
        let text = '';
        res.setEncoding('utf8');
        res.on('data', (data: string) => {
          text += data;
        });
        res.on('error', reject);
        res.on('end', () => resolve({ status: res.statusCode as number, text }));
      });
      sent.on('error', reject);
      sent.end();
    });
  }
}

/** Names are not compared: the server is asked under an address of this machine, its certificate has its public name. */
function trustOf(certificate: Buffer | undefined): object {
  if (certificate === undefined) return {};
  const { fingerprint256 } = new X509Certificate(certificate);
  const checkServerIdentity = (_host: string, shown: { fingerprint256: string }) =>
    shown.fingerprint256 === fingerprint256 ? undefined : new Error("it has another certificate than the settings'");
  return { ca: certificate, allowPartialTrustChain: true, checkServerIdentity };
}

/** Of an error answer of walletd; of any other server the beginning of what it says. */
function detailOf(text: string): string {
  try {
    return String((JSON.parse(text) as { detail?: unknown }).detail);
  } catch {
    return text.slice(0, TEXT_MAX);
  }
}
