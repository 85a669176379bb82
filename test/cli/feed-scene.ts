import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { bet, importPlayers, PlatformClient, type RequestBody } from '../support/client.js';
import { assertBooks, type ConsumerBooks } from '../support/consumer-books.js';
import { freePort } from '../support/free-port.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { WalletdProcess } from '../support/walletd-process.js';

/** The least number of events of a scene. `FEED_EVENTS=1000000` tries many; see test/README.md. */
const EVENTS = Number(process.env.FEED_EVENTS ?? 0);
const BETS_PER_MESSAGE = 10;
const EVENTS_PER_PLAYER = 1000;
/** Messages that travel at a time. */
const CONNECTIONS = 8;
/** Bets stay open, and a player may have 10,000 of them. So many players are enough for minutes of load. */
const PLAYERS_MIN = 400;
const PLAYERS = Array.from({ length: PLAYERS_MIN + Math.ceil(EVENTS / EVENTS_PER_PLAYER) }, (_, i) => `p${i}`);
const OPENING_BALANCE = 1000;
const STAKE = 0.01;
/** Status code of a server that cannot take the message now. */
const UNAVAILABLE = 50001;
/** Pause of a connection after each answer. A slow sink has to catch up with the events of its restart. */
const PAUSE_MS = EVENTS > 0 ? 5 : 25;

/** A walletd that is killed and started again while a platform bets, and a feed with the name `feed`. */
export class FeedScene {
  readonly feed = 'crm';
  private readonly load = new Load(() => this.server);
  private readonly beganMs = performance.now();

  private constructor(
    private readonly env: Record<string, string>,
    private server: WalletdProcess,
  ) {}

  static async start(t: TestContext): Promise<FeedScene> {
    const folder = makeTempFolder();
    const env = {
      WALLETD_STORE: `lmdb:${folder.path}/data`,
      WALLETD_INIT: 'auto',
      WALLETD_SHARDS: '2',
      WALLETD_ADMIN_PORT: String(await freePort()),
    };
    const scene = new FeedScene(env, await WalletdProcess.start(env));
    t.after(async () => {
      await scene.server.end('SIGKILL');
      folder.remove();
    });
    await importPlayers(scene.adminUrl, PLAYERS, OPENING_BALANCE);
    scene.load.begin();
    return scene;
  }

  get adminUrl(): string {
    return this.server.adminUrl;
  }

  async restartServer(): Promise<void> {
    await this.server.end('SIGKILL');
    this.server = await WalletdProcess.start(this.env);
  }

  /** Resolves when the feed's acknowledged position has moved. */
  async goesOn(what: string): Promise<void> {
    const { position } = await this.state();
    await until(`events are acknowledged ${what}`, async () => {
      const now = await this.state();
      return now.position !== undefined && now.position !== position;
    });
  }

  /** Ends the load. Resolves when every event is acknowledged. */
  async end(): Promise<void> {
    await this.load.end();
    for (let lag = Number.POSITIVE_INFINITY; lag > 0; ) {
      lag = await until('the lag of the feed falls', async () => {
        const entries = (await this.state()).lag?.entries;
        return entries !== undefined && entries < lag && entries;
      });
    }
  }

  /** Asserts that the books have every event. Call this after `end`. */
  async check(books: ConsumerBooks, t: TestContext): Promise<void> {
    const seconds = Math.round((performance.now() - this.beganMs) / 1000);
    await assertBooks(books, { players: PLAYERS, requestIds: this.load.answered, adminUrl: this.adminUrl });
    t.diagnostic(`${books.count} events in ${seconds} s, ${books.repeats} deliveries of known ones`);
  }

  private async state(): Promise<{ readonly position?: string; readonly lag?: { readonly entries: number } }> {
    const response = await fetch(`${this.adminUrl}/v1/feeds/${this.feed}`);
    return (await response.json()) as object;
  }
}

/** A platform that repeats each message until the current server answers. */
class Load {
  /** Ids of the requests that were answered. */
  readonly answered: string[] = [];
  private isOver = false;
  private running: Promise<unknown> = Promise.resolve();

  constructor(private readonly server: () => WalletdProcess) {}

  begin(): void {
    this.running = Promise.all(Array.from({ length: CONNECTIONS }, (_, connection) => this.play(connection)));
  }

  /** Resolves when there are enough events. */
  async end(): Promise<void> {
    this.isOver = true;
    await this.running;
  }

  private async play(connection: number): Promise<void> {
    for (let i = 0; !this.isOver || this.answered.length * BETS_PER_MESSAGE < EVENTS; i++) {
      const player = PLAYERS[(i * CONNECTIONS + connection) % PLAYERS.length] as string;
      const body = betsOf(player, `${connection}-${i}`);
      while (!(await this.isAnswered(body))) await delay(PAUSE_MS);
      this.answered.push(body.id);
      await delay(PAUSE_MS);
    }
  }

  private async isAnswered(body: RequestBody): Promise<boolean> {
    const client = new PlatformClient(this.server().callbackUrl);
    const { statusCode } = await client.post('placeBets', body).catch(() => ({ statusCode: UNAVAILABLE }));
    client.close();
    // Every other answer is final, so a repeat would never end.
    assert.ok(statusCode === 0 || statusCode === UNAVAILABLE, `${statusCode} for a bet of ${body.username}`);
    return statusCode === 0;
  }
}

function betsOf(player: string, id: string): RequestBody {
  const one = bet(player, id, STAKE);
  const txns = Array.from({ length: BETS_PER_MESSAGE }, (_, n) => ({ ...one.txns[0], id: `${id}-${n}` }));
  return { ...one, txns };
}
