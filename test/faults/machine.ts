import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { freePort } from '../support/free-port.js';
import { until } from '../support/until.js';
import { LAUNCHER, WalletdCommand, type WalletdProcess } from '../support/walletd-process.js';
import type { Load } from './load.js';
import type { PlayRound } from './rounds.js';
import type { Scene } from './scene.js';

const isWhole = (name: string) => !name.endsWith('.partial');

/** An operator's machine: walletd and its backup follower as systemd units, with a shared settings file. */
export class Machine {
  /** The folder of the backup in follow mode. */
  readonly backup: string;
  /** Working directory of commands, where they create files. */
  readonly folder: string;
  private readonly settings = new Map<string, string>();
  private server: WalletdProcess | undefined = undefined;
  private follower: WalletdCommand | undefined = undefined;
  private platform: Load | undefined = undefined;
  /** The reason why the last start of walletd failed. */
  refusal = '';

  private constructor(private readonly scene: Scene) {
    this.folder = scene.makeFolder();
    this.backup = join(this.folder, 'walletd-backup');
    mkdirSync(join(this.folder, 'bin'));
    symlinkSync(LAUNCHER, join(this.folder, 'bin', 'walletd'));
    scene.atEnd(() => this.follower?.exit('SIGKILL'));
  }

  /**
   * Starts a machine on which walletd has served and the follower is running. Players play until the load is paused.
   */
  static async of(scene: Scene, settings: Readonly<Record<string, string>>, playRound?: PlayRound): Promise<Machine> {
    const machine = new Machine(scene);
    const given = { WALLETD_NODE_FOLDER: scene.nodeFolder, WALLETD_ADMIN_PORT: String(await freePort()) };
    for (const [name, value] of Object.entries({ ...given, ...settings })) machine.settings.set(name, value);
    await machine.start('walletd');
    assert.equal(machine.refusal, '');
    // During an incident, operators never create a new store.
    machine.set('WALLETD_INIT', 'never');
    machine.platform = await scene.load(machine.walletd, undefined, playRound);
    await machine.start('walletd-backup');
    return machine;
  }

  get walletd(): WalletdProcess {
    assert.ok(this.server !== undefined, `walletd runs: ${this.refusal}`);
    return this.server;
  }

  get load(): Load {
    assert.ok(this.platform !== undefined, 'the platform plays');
    return this.platform;
  }

  /** Edits the settings file, as an operator does. */
  set(name: string, value: string): void {
    this.settings.set(name, value);
    this.writeSettings();
  }

  get(name: string): string {
    return this.settings.get(name) ?? '';
  }

  /** Environment variables of every shell. */
  get environment(): Record<string, string> {
    return {
      PATH: `${join(this.folder, 'bin')}${delimiter}${process.env.PATH}`,
      SETTINGS: this.settingsFile,
      BACKUP: this.backup,
      STORE: this.get('WALLETD_STORE'),
    };
  }

  async systemctl(action: string, unit: string): Promise<void> {
    assert.match(unit, /^walletd(-backup)?$/);
    if (action === 'start') await this.start(unit);
    else if (action === 'stop') await this.stop(unit);
    else if (action === 'reload') process.kill(this.walletd.pid, 'SIGHUP');
    else assert.fail(`systemctl ${action} ${unit}`);
  }

  /** Kills walletd like a power failure. */
  async killWalletd(): Promise<void> {
    this.load.rest();
    await this.server?.end('SIGKILL');
    this.server = undefined;
  }

  /** The follower's exit code or signal; undefined while it is running. */
  get followerEnded(): number | NodeJS.Signals | undefined {
    return this.follower?.ended;
  }

  get followerSaid(): string {
    return `${this.follower?.stdout}${this.follower?.stderr}`;
  }

  private async start(unit: string): Promise<void> {
    this.writeSettings();
    if (unit === 'walletd-backup') return await this.startFollower();
    if (this.server?.child.exitCode === null && this.server.child.signalCode === null) return;
    this.refusal = '';
    this.server = await this.scene
      .walletd(this.get('WALLETD_STORE'), Object.fromEntries(this.settings))
      .catch((error: Error) => {
        this.refusal = error.message;
        return undefined;
      });
    if (this.server !== undefined) this.platform?.moveTo(this.server);
  }

  private async startFollower(): Promise<void> {
    if (this.follower !== undefined && this.follower.ended === undefined) return;
    const args = [
      'backup',
      '--to',
      this.backup,
      '--follow',
      '--rotate',
      '24h',
      '--metrics',
      join(this.folder, 'walletd.prom'),
    ];
    this.follower = new WalletdCommand(args, Object.fromEntries(this.settings));
    await this.follower.said(/Following/);
    await until('there is a backup', () => existsSync(this.backup) && readdirSync(this.backup).some(isWhole));
  }

  private async stop(unit: string): Promise<void> {
    if (unit === 'walletd') {
      this.platform?.rest();
      await this.server?.end('SIGTERM');
      this.server = undefined;
    } else {
      await this.follower?.exit('SIGTERM');
      this.follower = undefined;
    }
  }

  private get settingsFile(): string {
    return join(this.folder, 'walletd.env');
  }

  private writeSettings(): void {
    const lines = Array.from(this.settings, ([name, value]) => `${name}=${value}\n`);
    writeFileSync(this.settingsFile, ['# Settings of walletd\n', ...lines].join(''));
  }
}
