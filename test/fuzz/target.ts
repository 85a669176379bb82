import { createSecretKey } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { messageOf } from '../../src/base/message-of.js';
import { freePort } from '../support/free-port.js';
import { OpenApiDocument } from '../support/openapi-document.js';
import { RedisServer } from '../support/redis-server.js';
import { Scrape } from '../support/scrape.js';
import { signedHeaders } from '../support/signed-headers.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { WalletdCommand, WalletdProcess } from '../support/walletd-process.js';
import type { Aim, Attack } from './attacks/attack.js';
import { VICTIMS } from './callbacks.js';
import { type Exchange, exchange } from './exchange.js';
import { Finding } from './finding.js';
import { findHeldBy, type Held, openFilesOf } from './held.js';
import { Company, type Honest, Prober } from './honest.js';
import { HonestPlayer, type Table } from './honest-player.js';
import { Judge } from './judge.js';
import { type Kind, OPERATOR_TOKEN } from './kinds.js';
import type { Listener, Sending } from './sending.js';

const OPENING_BALANCE = 100_000;
const CURRENCY = 'THB';
/** Extra time beyond the limit that the settings or the library set for a request, because this machine is busy. */
const MARGIN_MS = 10_000;
/**
 * The time after which the HTTP library has closed an idle connection. It closes connections after 10 s of silence, and
 * checks every 4 s.
 */
const IDLE_MS = 14_000;
const STOP_MAX_MS = 20_000;
/** Number of descriptors to allow for observers' sockets, and for files that the runtime may open at any time. */
const DESCRIPTORS_SPARE = 8;
const LAST_SENDINGS = 12;
/** Counters that external requests must never increase. */
const NEVER = ['walletd_assertion_failures_total', 'walletd_cluster_forged_frames_total'];
const BAD_LEVELS = ['error', 'fatal'];

/** Processes under attack. */
export interface Besieged {
  readonly name: string;
  readonly attacks: readonly Attack[];
  readonly aim: Aim;
  readonly connections: number;
  /** Number of answers by HTTP status; 0 means that a connection was closed without an answer. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Sends to all connections at the same time. Throws a `Finding` for a forbidden outcome. */
  suffer(sendings: readonly Sending[]): Promise<void>;
  /** Checks the servers' metrics while attacks continue. Throws a `Finding` if one is wrong. */
  look(): Promise<void>;
  readCallersAgain(): void;
  /** Honest callers alongside the attackers. */
  callers(stop: AbortSignal): Honest;
  /**
   * Call this after the attacks. Checks that the process no longer holds resources for them, and that it exits
   * cleanly.
   */
  finish(): Promise<{ start: Held | undefined; end: Held | undefined }>;
  /** Removes the target, whatever the outcome. */
  remove(): Promise<void>;
}

/** The second node next to the attacked one, and the store that both share. */
interface Shared {
  readonly redis: RedisServer;
  readonly peer: WalletdProcess;
}

/** A walletd under attack, either with its own store or as one of two nodes. */
export class Target implements Besieged {
  connections = 0;
  /** Number of answers by HTTP status; 0 means that a connection was closed without an answer. */
  readonly statuses = new Map<number, number>();
  private readonly last: Sending[] = [];
  private readonly atStart: Held | undefined;

  private constructor(
    readonly kind: Kind,
    private readonly folder: ReturnType<typeof makeTempFolder>,
    private readonly env: Record<string, string>,
    private readonly walletd: WalletdProcess,
    private readonly ports: { readonly health: number; readonly nodes: number },
    private readonly judge: Judge,
    private readonly shared: Shared | undefined,
  ) {
    this.atStart = this.held();
  }

  get name(): string {
    return this.kind.name;
  }

  get attacks(): readonly Attack[] {
    return this.kind.attacks;
  }

  get aim(): Aim {
    return this.kind;
  }

  static async start(kind: Kind): Promise<Target> {
    const folder = makeTempFolder();
    const config = `${folder.path}/settings.json`;
    writeFileSync(config, JSON.stringify(kind.settings));
    const [health, nodes] = [await freePort(), await freePort()];
    const redis = kind.isCluster && (await RedisServer.start());
    const env: Record<string, string> = {
      WALLETD_CONFIG: config,
      WALLETD_STORE: redis?.url ?? `lmdb:${folder.path}/data`,
      WALLETD_HEALTH_PORT: String(health),
      ...(redis && {
        WALLETD_INIT: 'auto',
        WALLETD_CLUSTER_PORT: String(nodes),
        WALLETD_CLUSTER_NAME: 'attacked',
        WALLETD_NODE_FOLDER: `${folder.path}/attacked`,
      }),
    };
    const beside = { WALLETD_CLUSTER_NAME: 'beside', WALLETD_NODE_FOLDER: `${folder.path}/beside` };
    const starting = [
      env,
      ...(redis ? [{ ...env, ...beside, WALLETD_HEALTH_PORT: '0', WALLETD_CLUSTER_PORT: '0' }] : []),
    ];
    const started = await Promise.allSettled(starting.map((one) => WalletdProcess.start(one)));
    const processes = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    try {
      for (const one of started) if (one.status === 'rejected') throw one.reason;
      const [walletd, peer] = processes as [WalletdProcess, WalletdProcess | undefined];
      const document = await OpenApiDocument.of(walletd.adminUrl, headersFor(kind));
      const judge = new Judge(document, kind.secrets !== undefined);
      const ports = { health, nodes };
      const shared = redis && peer && { redis, peer };
      if (shared) await linked(walletd);
      const target = new Target(kind, folder, env, walletd, ports, judge, shared);
      await target.importVictims();
      return target;
    } catch (error) {
      for (const one of processes) await one.end('SIGKILL');
      await redis?.destroy();
      folder.remove();
      throw error;
    }
  }

  callers(stop: AbortSignal): Honest {
    const { health } = this.ports;
    const probed = { '/livez': 200, '/readyz': 200 };
    return new Company([
      new HonestPlayer(this.table, stop),
      new Prober(`http://127.0.0.1:${health}`, probed, this.timeoutMs),
    ]);
  }

  /** The target's address for an honest player. */
  private get table(): Table {
    const { callbackUrl, adminUrl } = this.walletd;
    const { secrets } = this.kind;
    const key = secrets && createSecretKey(secrets.signatureKey, 'utf8');
    const signatureOf = (body: string) => (key === undefined ? {} : signedHeaders(key, body));
    const { timeoutMs } = this;
    return { callbackUrl, adminUrl, adminHeaders: headersFor(this.kind), timeoutMs: timeoutMs, signatureOf };
  }

  private get timeoutMs(): number {
    return this.kind.requestDeadlineMs + MARGIN_MS;
  }

  async suffer(sendings: readonly Sending[]): Promise<void> {
    await Promise.all(sendings.map((sending) => this.sufferOne(sending)));
  }

  async look(): Promise<void> {
    this.mustLive();
    const bad = this.walletd.log.find(({ level }) => BAD_LEVELS.includes(level));
    if (bad !== undefined) throw this.finding(`the log says ${JSON.stringify(bad)}`);
    const scrape = await this.scrape();
    for (const counter of NEVER) {
      const times = scrape.value(counter) ?? 0;
      if (times !== 0) throw this.finding(`${counter} is ${times}`);
    }
    if (this.shared !== undefined) await this.mustLink();
  }

  /**
   * Waits for the link between the two nodes. A busy machine may delay heartbeats so that the link ends, but no attack
   * may keep the link down.
   */
  private async mustLink(): Promise<void> {
    try {
      await until('the link is up', async () => (await this.scrape()).value('walletd_cluster_links') === 1);
    } catch {
      throw this.finding('the link stays down');
    }
  }

  /** Makes the target reload its caller settings. */
  readCallersAgain(): void {
    this.mustLive();
    process.kill(this.walletd.pid, 'SIGHUP');
  }

  /**
   * Call this after the attacks. Checks that the process no longer holds resources for them, that memory and log agree,
   * that the process exits cleanly, and that the ledger balances. Resolves to the resources held at the start and at
   * the end.
   */
  async finish(): Promise<{ start: Held | undefined; end: Held | undefined }> {
    await this.look();
    await this.mustLetGo();
    const end = this.held();
    await this.verify('--server', this.walletd.adminUrl);
    if (this.kind.secrets !== undefined) await this.mustBeUntouched();
    await this.look();
    await this.mustStop();
    await this.verify('--no-server');
    return { start: this.atStart, end };
  }

  async remove(): Promise<void> {
    await this.walletd.end('SIGKILL');
    await this.shared?.peer.end('SIGKILL');
    await this.shared?.redis.destroy();
    this.folder.remove();
  }

  private async sufferOne(sending: Sending): Promise<void> {
    this.connections++;
    this.last.push(sending);
    if (this.last.length > LAST_SENDINGS) this.last.shift();
    const timeoutMs = sending.ending === 'outstays' ? IDLE_MS + MARGIN_MS : this.timeoutMs;
    const result = await exchange(this.portOf(sending.to), sending, timeoutMs);
    countStatuses(this.statuses, result);
    this.judge.check(result);
  }

  private portOf(listener: Listener): number {
    const { callbackUrl, adminUrl } = this.walletd;
    if (listener === 'health' || listener === 'nodes') return this.ports[listener];
    return Number(new URL(listener === 'callbacks' ? callbackUrl : adminUrl).port);
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

  /** Creates a finding that includes the last connections, which may have caused it. */
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
    try {
      await until(`${name} has at most ${most} descriptors again`, () => {
        const held = this.held();
        return held === undefined || held.descriptors <= most;
      });
    } catch (error) {
      throw this.finding(`${messageOf(error)}\nIts open files are:\n${openFilesOf(this.walletd.pid).join('\n')}`);
    }
  }

  private async verify(...args: readonly string[]): Promise<void> {
    const command = new WalletdCommand(['verify', '--deep', ...args], this.env);
    const exitCode = await command.exit();
    if (exitCode !== 0) throw new Finding(`walletd verify says\n${command.stdout}${command.stderr}`);
  }

  /** Checks that no money has moved, because no attacker could authenticate as the platform or an operator. */
  private async mustBeUntouched(): Promise<void> {
    for (const username of VICTIMS) {
      const response = await fetch(`${this.walletd.adminUrl}/v1/players/${username}`, {
        headers: headersFor(this.kind),
      });
      const { balance } = (await response.json()) as { balance: number };
      if (balance !== OPENING_BALANCE)
        throw new Finding(`${username} has ${balance}, although no money may have moved`);
    }
  }

  private async mustStop(): Promise<void> {
    const startMs = performance.now();
    const exitCode = await this.walletd.end('SIGTERM');
    const tookMs = performance.now() - startMs;
    await this.shared?.peer.end('SIGTERM');
    if (exitCode !== 0 || tookMs > STOP_MAX_MS) {
      throw this.finding(`walletd ended with ${exitCode} ${Math.round(tookMs)} ms after SIGTERM`);
    }
  }

  private held(): Held | undefined {
    return findHeldBy(this.walletd.pid, this.folder.path);
  }
}

export function countStatuses(statuses: Map<number, number>, { parser }: Exchange): void {
  const answers = parser.answers.map(({ status }) => status);
  for (const status of answers.length === 0 ? [0] : answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
}

async function linked({ adminUrl }: WalletdProcess): Promise<void> {
  await until('the nodes have a link, and every shard an owner', async () => {
    const scrape = await Scrape.of(adminUrl, {});
    return scrape.value('walletd_cluster_links') === 1 && scrape.value('walletd_cluster_unowned_shards') === 0;
  });
}

function headersFor({ secrets }: Kind): Record<string, string> {
  return secrets === undefined ? {} : { Authorization: `Bearer ${OPERATOR_TOKEN}` };
}
