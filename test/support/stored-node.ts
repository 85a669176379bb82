import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { balanceOf, bet, PlatformClient } from './client.js';
import { runCommand } from './run-command.js';
import { makeTempFolder } from './temp-folder.js';
import { WalletdProcess } from './walletd-process.js';

export const NODE_PLAYERS = ['ann', 'bob', 'cid', 'dan', 'eve', 'fay', 'gil', 'hal'];

/** A store in a folder, the node's own files next to it, and the running walletd, if any. */
export class StoredNode {
  readonly folder = makeTempFolder();
  readonly store = `${this.folder.path}/data`;
  readonly env: Record<string, string>;
  walletd: WalletdProcess | undefined;
  private bets = 0;

  constructor(t: TestContext, shards: number) {
    this.env = {
      WALLETD_STORE: `lmdb:${this.store}`,
      WALLETD_NODE_FOLDER: `${this.folder.path}/node`,
      WALLETD_SHARDS: String(shards),
      WALLETD_WORKERS: '0',
    };
    t.after(async () => {
      await this.walletd?.end('SIGKILL');
      this.folder.remove();
    });
  }

  async start(env: Record<string, string> = {}): Promise<WalletdProcess> {
    this.walletd = await WalletdProcess.start({ ...this.env, ...env });
    return this.walletd;
  }

  async play(bets: number): Promise<void> {
    const { callbackUrl } = this.walletd as WalletdProcess;
    const client = new PlatformClient(callbackUrl);
    for (let i = 0; i < bets; i++) {
      const username = NODE_PLAYERS[i % NODE_PLAYERS.length] as string;
      const answer = await client.post('placeBets', bet(username, `b${this.bets++}`, 1));
      assert.equal(answer.statusCode, 0);
    }
    client.close();
  }

  async balances(): Promise<number[]> {
    const { adminUrl } = this.walletd as WalletdProcess;
    return await Promise.all(NODE_PLAYERS.map((username) => balanceOf(adminUrl, username)));
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await this.walletd?.end(signal);
  }

  async run(args: readonly string[]) {
    return await runCommand(args, { ...this.env, WALLETD_ADMIN_PORT: this.adminPort });
  }

  /** The operator API port of the running walletd, for commands that query it. */
  private get adminPort(): string {
    const url = this.walletd?.child.exitCode === null ? this.walletd.adminUrl : '';
    return url === '' ? '1' : new URL(url).port;
  }
}

export const jsonLines = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
