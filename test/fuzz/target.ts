import { createSecretKey } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { OpenApiDocument } from '../support/openapi-document.js';
import { Scrape } from '../support/scrape.js';
import { signedHeaders } from '../support/signed-headers.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { WalletdCommand, WalletdProcess } from '../support/walletd-process.js';
import { VICTIMS } from './callbacks.js';
import { exchange } from './exchange.js';
import { Finding } from './finding.js';
import type { Table } from './honest-player.js';
import { Judge } from './judge.js';
import { type Kind, OPERATOR_TOKEN } from './kinds.js';
import type { Sending } from './sending.js';

const OPENING_BALANCE = 100_000;
const CURRENCY = 'THB';
/** Beside what the settings or the library give a request: this machine has other things to do. */
const MARGIN_MS = 10_000;
/** The HTTP library closes idle connections after 10 s, and looks every 4 s. */
const IDLE_MS = 14_000;
const STOP_MAX_MS = 20_000;
/** Sockets of whoever watches, and files that an engine opens when it likes. */
const DESCRIPTORS_SPARE = 8;
const LAST_SENDINGS = 12;
const BAD_LEVELS = ['error', 'fatal'];

/** What a process holds; undefined where the system does not tell. */
interface Held {
  readonly descriptors: number;
  readonly residentMb: number;
}

/** A walletd under attack, with a store of its own. */
export class Target {
  connections = 0;
  /** How often each HTTP status came; 0: a connection was closed without an answer. */
  readonly statuses = new Map<number, number>();
  private readonly last: Sending[] = [];
  private readonly atStart: Held | undefined;

  private constructor(
    readonly kind: Kind,
    private readonly folder: ReturnType<typeof makeTempFolder>,
    private readonly env: Record<string, string>,
    private readonly walletd: WalletdProcess,
    private readonly judge: Judge,
  ) {
    this.atStart = this.maybeHeld();
  }

  static async start(kind: Kind): Promise<Target> {
    const folder = makeTempFolder();
    const config = `${folder.path}/settings.json`;
    writeFileSync(config, JSON.stringify(kind.settings));
    const env = { WALLETD_CONFIG: config, WALLETD_STORE: `lmdb:${folder.path}/data` };
    let walletd: WalletdProcess | undefined;
    try {
      walletd = await WalletdProcess.start(env);
      const judge = new Judge(await OpenApiDocument.of(walletd.adminUrl, headersFor(kind)), kind.secrets !== undefined);
      const target = new Target(kind, folder, env, walletd, judge);
      await target.importVictims();
      return target;
    } catch (error) {
      await walletd?.end('SIGKILL');
      folder.remove();
      throw error;
    }
  }

  /** Where an honest player finds it. */
  get table(): Table {
    const { callbackUrl, adminUrl } = this.walletd;
    const { secrets } = this.kind;
    const key = secrets && createSecretKey(secrets.signatureKey, 'utf8');
    const signatureOf = (body: string) => (key === undefined ? {} : signedHeaders(key, body));
    const patienceMs = this.kind.requestDeadlineMs + MARGIN_MS;
    return { callbackUrl, adminUrl, adminHeaders: headersFor(this.kind), patienceMs, signatureOf };
  }

  /** Sends all of this at once. Throws a `Finding` when something comes of it that must not. */
  async suffer(sendings: readonly Sending[]): Promise<void> {
    await Promise.all(sendings.map((sending) => this.sufferOne(sending)));
  }

  /** What can be seen while it goes on. Throws a `Finding` when it is no good sight. */
  async look(): Promise<void> {
    this.mustLive();
    const bad = this.walletd.log.find(({ level }) => BAD_LEVELS.includes(level));
    if (bad !== undefined) throw this.finding(`the log says ${JSON.stringify(bad)}`);
    const failures = (await this.scrape()).value('walletd_assertion_failures_total');
    if (failures !== 0) throw this.finding(`${failures} assertions have failed`);
  }

  /** Has it read again who may call. */
  readCallersAgain(): void {
    this.mustLive();
    process.kill(this.walletd.pid, 'SIGHUP');
  }

  /**
   * When all attackers are gone: nothing is held for them any more, memory and log say the same, it ends in good order,
   * and the books hold. Resolves to what it held at the start and at the end.
   */
  async finish(): Promise<{ start: Held | undefined; end: Held | undefined }> {
    await this.look();
    await this.mustLetGo();
    const end = this.maybeHeld();
    await this.verify('--server', this.walletd.adminUrl);
    if (this.kind.secrets !== undefined) await this.mustBeUntouched();
    await this.look();
    await this.mustStop();
    await this.verify('--no-server');
    return { start: this.atStart, end };
  }

  /** Whatever has become of it. */
  async remove(): Promise<void> {
    await this.walletd.end('SIGKILL');
    this.folder.remove();
  }

  private async sufferOne(sending: Sending): Promise<void> {
    this.connections++;
    this.last.push(sending);
    if (this.last.length > LAST_SENDINGS) this.last.shift();
    const { callbackUrl, adminUrl } = this.walletd;
    const port = Number(new URL(sending.to === 'callbacks' ? callbackUrl : adminUrl).port);
    const patienceMs = (sending.ending === 'outstays' ? IDLE_MS : this.kind.requestDeadlineMs) + MARGIN_MS;
    const result = await exchange(port, sending, patienceMs);
    const statuses = result.parser.answers.map(({ status }) => status);
    for (const status of statuses.length === 0 ? [0] : statuses) {
      this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    }
    this.judge.check(result);
  }

  private async importVictims(): Promise<void> {
    const lines = VICTIMS.map((username) =>
      JSON.stringify({ id: 'open', username, currency: CURRENCY, balance: OPENING_BALANCE }),
    );
    for (const body of lines) {
      const headers = { ...headersFor(this.kind), 'Content-Type': 'application/x-ndjson' };
      const response = await fetch(`${this.walletd.adminUrl}/v1/players:import`, { method: 'POST', headers, body });
      if (!/"created":1/.test(await response.text())) throw new Error('a victim could not be created');
    }
  }

  private mustLive(): void {
    const { exitCode, signalCode } = this.walletd.child;
    if (exitCode === null && signalCode === null) return;
    throw this.finding(`walletd has ended with ${exitCode ?? signalCode}: ${this.walletd.errors}`);
  }

  /** With what was sent last, as far as that may have led to it. */
  private finding(sentence: string): Finding {
    return new Finding(
      `${sentence}\nThe last parts of connections were:`,
      this.last.flatMap(({ parts }) => parts.slice(-1)),
    );
  }

  private async scrape(): Promise<Scrape> {
    return await Scrape.of(this.walletd.adminUrl, headersFor(this.kind));
  }

  private async mustLetGo(): Promise<void> {
    const { name } = this.kind;
    const gauges = ['walletd_connections', 'walletd_callbacks_in_flight'];
    await until(`${gauges.join(' and ')} of ${name} fall to 0`, async () => {
      const scrape = await this.scrape();
      return gauges.every((gauge) => scrape.value(gauge) === 0);
    });
    const most = (this.atStart?.descriptors ?? 0) + DESCRIPTORS_SPARE;
    await until(`${name} has at most ${most} descriptors again`, () => {
      const held = this.maybeHeld();
      return held === undefined || held.descriptors <= most;
    });
  }

  private async verify(...args: readonly string[]): Promise<void> {
    const command = new WalletdCommand(['verify', '--deep', ...args], this.env);
    const exitCode = await command.exit();
    if (exitCode !== 0) throw new Finding(`walletd verify says\n${command.stdout}${command.stderr}`);
  }

  /** Nobody could prove to be the platform or an operator, so nobody may have moved anything. */
  private async mustBeUntouched(): Promise<void> {
    for (const username of VICTIMS) {
      const response = await fetch(`${this.walletd.adminUrl}/v1/players/${username}`, {
        headers: headersFor(this.kind),
      });
      const { balance } = (await response.json()) as { balance: number };
      if (balance !== OPENING_BALANCE) throw new Finding(`${username} has ${balance}, and nobody may have moved that`);
    }
  }

  private async mustStop(): Promise<void> {
    const startMs = performance.now();
    const exitCode = await this.walletd.end('SIGTERM');
    const tookMs = performance.now() - startMs;
    if (exitCode !== 0 || tookMs > STOP_MAX_MS) {
      throw this.finding(`walletd ended with ${exitCode} ${Math.round(tookMs)} ms after SIGTERM`);
    }
  }

  private maybeHeld(): Held | undefined {
    const folder = `/proc/${this.walletd.pid}`;
    if (!existsSync(folder)) return undefined;
    const residentKb = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`${folder}/status`, 'utf8'))?.[1];
    return { descriptors: readdirSync(`${folder}/fd`).length, residentMb: Math.round(Number(residentKb) / 1024) };
  }
}

function headersFor({ secrets }: Kind): Record<string, string> {
  return secrets === undefined ? {} : { Authorization: `Bearer ${OPERATOR_TOKEN}` };
}
