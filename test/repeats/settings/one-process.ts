import { makeTempFolder } from '../../support/temp-folder.js';
import { WalletdProcess } from '../../support/walletd-process.js';
import { RealWire } from '../wire.js';

/** A walletd that can be stopped and restarted, with the same store or a different one. */
export class OneProcess {
  readonly wire = new RealWire();
  private readonly folder = makeTempFolder();
  private running: WalletdProcess | undefined;
  private readonly ended: WalletdProcess[] = [];

  constructor(private readonly env: Readonly<Record<string, string>>) {}

  /** An embedded store in the folder of this process. */
  lmdb(name: string): string {
    return `lmdb:${this.path(name)}`;
  }

  path(name: string): string {
    return `${this.folder.path}/${name}`;
  }

  async startOn(store: string): Promise<void> {
    const env = { WALLETD_INIT: 'auto', WALLETD_WORKERS: '0', ...this.env, WALLETD_STORE: store };
    this.running = await WalletdProcess.start(env);
    this.wire.moveTo([this.running.callbackUrl], this.running.adminUrl);
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    if (this.running === undefined) return;
    await this.running.end(signal);
    this.ended.push(this.running);
    this.running = undefined;
  }

  errors(): string[] {
    return [...this.ended, ...(this.running === undefined ? [] : [this.running])].flatMap(errorsOf);
  }

  async close(): Promise<void> {
    await this.end('SIGKILL');
    this.wire.close();
    this.folder.remove();
  }
}

/** Errors in a server's log. */
export function errorsOf({ log }: WalletdProcess): string[] {
  return log.filter(({ level }) => level === 'error' || level === 'fatal').map((line) => JSON.stringify(line));
}
