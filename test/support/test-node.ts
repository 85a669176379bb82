import type { Logger } from '../../src/base/logger.js';
import { WalletNode } from '../../src/node/boot/wallet-node.js';
import { settingsWith } from './settings.js';
import { makeTempFolder } from './temp-folder.js';

export type LogLine = { readonly level: string; readonly message: string; readonly [field: string]: unknown };

/** A complete walletd in this process, on free ports and with its own folder. */
export class TestNode {
  /** Resolves when the node can no longer serve any caller. The value is the exit code that the node requests. */
  readonly useless: Promise<number>;
  /** Log lines of the main thread, except `debug` lines. */
  readonly logLines: LogLine[] = [];
  private readonly folder = makeTempFolder();
  private changes: Record<string, unknown> = {};
  private node: WalletNode | undefined;
  private onCannotServe: (exitCode: number) => void = () => {};

  private constructor(
    private readonly store: string | undefined,
    private readonly workerEntry: URL | undefined,
  ) {
    this.useless = new Promise((resolve) => {
      this.onCannotServe = resolve;
    });
  }

  /** `workerEntry` is a special program for worker threads. */
  static async start(changes: Record<string, unknown> = {}, workerEntry?: URL): Promise<TestNode> {
    const test = new TestNode(undefined, workerEntry);
    await test.restart(changes);
    return test;
  }

  /** Starts a second node on the store of `other`, which the new node takes over. */
  static async beside(other: TestNode): Promise<TestNode> {
    const test = new TestNode(other.storeName, undefined);
    await test.restart();
    return test;
  }

  get callbackUrl(): string {
    return `http://127.0.0.1:${this.mustNode().callbackPort}`;
  }

  get adminUrl(): string {
    return `http://127.0.0.1:${this.mustNode().adminPort}`;
  }

  /** Stops the node, and starts it again on the same store with more settings changed. */
  async restart(changes: Record<string, unknown> = {}): Promise<void> {
    await this.node?.stop();
    this.changes = { ...this.changes, ...changes };
    const fixed = { store: this.storeName, port: 0, 'admin.port': 0, 'log.metricsSeconds': 0, 'log.level': 'silent' };
    const settings = settingsWith({ ...fixed, nodeFolder: `${this.folder.path}/node`, ...this.changes });
    const write = (level: string) => (fields: object, message: string) => {
      this.logLines.push({ ...fields, level, message });
    };
    const log: Logger = { debug() {}, info: write('info'), warn: write('warn'), error: write('error') };
    const sources = new Map(Object.keys({ ...fixed, ...this.changes }).map((setting) => [setting, 'the test']));
    const node = await WalletNode.open({ settings, sources }, log, this.onCannotServe, this.workerEntry);
    await node.start();
    this.node = node;
  }

  async close(): Promise<void> {
    await this.node?.stop();
    this.folder.remove();
  }

  private get storeName(): string {
    return this.store ?? `lmdb:${this.folder.path}`;
  }

  private mustNode(): WalletNode {
    if (this.node === undefined) throw new Error('the node has not been started');
    return this.node;
  }
}
