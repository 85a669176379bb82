import { silentLogger } from '../../src/base/ports.js';
import { WalletNode } from '../../src/cli/wallet-node.js';
import { settingsWith } from './settings.js';
import { makeTempFolder } from './temp-folder.js';

/** A whole walletd in this process, on free ports and a folder of its own. */
export class TestNode {
  private readonly folder = makeTempFolder();
  private changes: Record<string, unknown> = {};
  private node: WalletNode | undefined;

  static async start(changes: Record<string, unknown> = {}): Promise<TestNode> {
    const test = new TestNode();
    await test.restart(changes);
    return test;
  }

  get callbackUrl(): string {
    return `http://127.0.0.1:${this.mustNode().callbackPort}`;
  }

  get adminUrl(): string {
    return `http://127.0.0.1:${this.mustNode().adminPort}`;
  }

  /** Stops and starts again on the same store, with further settings changed. */
  async restart(changes: Record<string, unknown> = {}): Promise<void> {
    await this.node?.stop();
    this.changes = { ...this.changes, ...changes };
    const fixed = { store: `lmdb:${this.folder.path}`, port: 0, 'admin.port': 0, 'log.metricsSeconds': 0 };
    const settings = settingsWith({ ...fixed, ...this.changes });
    this.node = await WalletNode.start(settings, silentLogger, () => {});
  }

  async close(): Promise<void> {
    await this.node?.stop();
    this.folder.remove();
  }

  private mustNode(): WalletNode {
    if (this.node === undefined) throw new Error('the node has not been started');
    return this.node;
  }
}
