import { freePort } from '../support/free-port.js';
import { RedisServer } from '../support/redis-server.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { WalletdCommand } from '../support/walletd-process.js';
import { exchange } from './exchange.js';
import { Finding } from './finding.js';
import type { Held } from './held.js';
import { type Honest, Prober } from './honest.js';
import { checkPlain } from './judge.js';
import { EARLY_ATTACKS } from './kinds.js';
import type { Sending } from './sending.js';
import { type Besieged, countStatuses } from './target.js';

const BODY_BYTES_MAX = 1024 * 1024;
/** Maximum wait for an answer. Node limits a request to 5 s; the rest is extra time for a busy machine. */
const TIMEOUT_MS = 20_000;
const BAD = /"level":"(?:error|fatal)"/;

/** A walletd that waits for its store during the attacks. It must start once the store is available. */
export class EarlyTarget implements Besieged {
  readonly name = 'a store that is away';
  readonly attacks = EARLY_ATTACKS;
  readonly aim = { bodyBytesMax: BODY_BYTES_MAX };
  connections = 0;
  readonly statuses = new Map<number, number>();

  private constructor(
    private readonly port: number,
    private readonly redis: RedisServer,
    private readonly walletd: WalletdCommand,
    private readonly folder: ReturnType<typeof makeTempFolder>,
  ) {}

  static async start(): Promise<EarlyTarget> {
    const redis = await RedisServer.start();
    await redis.end();
    const [port, folder] = [await freePort(), makeTempFolder()];
    const walletd = new WalletdCommand(['serve'], {
      WALLETD_STORE: redis.url,
      WALLETD_INIT: 'auto',
      WALLETD_STORE_WAIT_SECONDS: '86400',
      WALLETD_ADMIN_PORT: String(port),
      WALLETD_NODE_FOLDER: `${folder.path}/node`,
    });
    const target = new EarlyTarget(port, redis, walletd, folder);
    try {
      await until('the early listener answers', () =>
        fetch(`${target.url}/livez`).then(
          ({ ok }) => ok,
          () => false,
        ),
      );
      return target;
    } catch (error) {
      await target.remove();
      throw error;
    }
  }

  callers(): Honest {
    return new Prober(this.url, { '/livez': 200, '/readyz': 503 }, TIMEOUT_MS);
  }

  async suffer(sendings: readonly Sending[]): Promise<void> {
    await Promise.all(sendings.map((sending) => this.sufferOne(sending)));
  }

  async look(): Promise<void> {
    const { ended, stdout, stderr } = this.walletd;
    if (ended !== undefined) throw new Finding(`walletd has ended with ${ended}: ${stderr}`);
    const bad = stdout.split('\n').find((line) => BAD.test(line));
    if (bad !== undefined) throw new Finding(`the log says ${bad}`);
  }

  readCallersAgain(): void {}

  /** Starts the store and waits until walletd serves. */
  async finish(): Promise<{ start: Held | undefined; end: Held | undefined }> {
    await this.look();
    await this.redis.start();
    await this.walletd.said(/walletd is ready/);
    const exitCode = await this.walletd.exit('SIGTERM');
    if (exitCode !== 0) throw new Finding(`walletd ended with ${exitCode} after SIGTERM`);
    return { start: undefined, end: undefined };
  }

  async remove(): Promise<void> {
    await this.walletd.exit('SIGKILL');
    await this.redis.destroy();
    this.folder.remove();
  }

  private get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  private async sufferOne(sending: Sending): Promise<void> {
    this.connections++;
    const result = await exchange(this.port, sending, TIMEOUT_MS);
    countStatuses(this.statuses, result);
    checkPlain(result);
  }
}
