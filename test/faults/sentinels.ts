import type { ChildProcess } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { CertificateFiles } from '../support/certificate.js';
import { endChild, type RedisServer, startRedisServer, withPort } from '../support/redis-server.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const COUNT = 3;
const QUORUM = 2;
const NAME = 'mymaster';

/** Credentials for the monitored servers. */
interface Login {
  readonly user: string;
  readonly password: string;
}

/** Protection of the sentinels themselves. They use TLS to one another and to the monitored servers as well. */
interface Protection {
  readonly password: string;
  readonly certificate: CertificateFiles;
}

/** Three sentinels that monitor one master and replace it after one second without an answer. */
export class Sentinels {
  private readonly folder = makeTempFolder();
  private readonly children: ChildProcess[] = [];
  private readonly clients: Redis[] = [];
  private readonly ports: number[] = [];

  private constructor(
    private readonly login: Login | undefined,
    private readonly protection: Protection | undefined,
  ) {}

  /** Resolves when each sentinel knows the others and the replicas. */
  static async watch(
    master: Pick<RedisServer, 'port'>,
    replicas: number,
    login?: Login,
    protection?: Protection,
  ): Promise<Sentinels> {
    const sentinels = new Sentinels(login, protection);
    try {
      for (let i = 0; i < COUNT; i++) await withPort((port) => sentinels.add(master, port));
      await until('the sentinels know one another', () => sentinels.know(replicas));
    } catch (error) {
      await sentinels.destroy();
      throw error;
    }
    return sentinels;
  }

  get url(): string {
    return this.urlOf('');
  }

  /** `login` contains credentials for the monitored servers, for example `walletd:secret@`. */
  urlOf(login: string): string {
    const scheme = this.protection === undefined ? 'redis+sentinel' : 'rediss+sentinel';
    return `${scheme}://${login}${this.ports.map((port) => `127.0.0.1:${port}`).join(',')}/${NAME}`;
  }

  /** The port of the master, as reported by the first sentinel that names a port other than `port`. */
  async otherMaster(port: number): Promise<number | undefined> {
    const addresses = await Promise.all(
      this.clients.map((client) => client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME) as Promise<string[]>),
    );
    return addresses.map(([, found]) => Number(found)).find((found) => found !== port);
  }

  /** Makes the first sentinel promote the replica. */
  async failOver(): Promise<void> {
    await this.clients[0]?.call('SENTINEL', 'FAILOVER', NAME);
  }

  /** Kills the first sentinel, which clients query first. */
  async killFirst(): Promise<void> {
    this.clients.shift()?.disconnect();
    const [child] = this.children.splice(0, 1);
    if (child !== undefined) await endChild(child, 'SIGKILL');
  }

  async destroy(): Promise<void> {
    for (const client of this.clients) client.disconnect();
    for (const child of this.children) await endChild(child, 'SIGKILL');
    this.folder.remove();
  }

  private async add(master: Pick<RedisServer, 'port'>, port: number): Promise<void> {
    const path = join(this.folder.path, `${port}.conf`);
    const lines = [
      ...this.listening(port),
      'bind 127.0.0.1',
      `dir ${this.folder.path}`,
      `sentinel monitor ${NAME} 127.0.0.1 ${master.port} ${QUORUM}`,
      `sentinel down-after-milliseconds ${NAME} 1000`,
      `sentinel failover-timeout ${NAME} 10000`,
      ...(this.login === undefined ? [] : [`sentinel auth-user ${NAME} ${this.login.user}`]),
      ...(this.login === undefined ? [] : [`sentinel auth-pass ${NAME} ${this.login.password}`]),
    ];
    writeFileSync(path, `${lines.join('\n')}\n`);
    this.children.push(await startRedisServer([path, '--sentinel'], /\+monitor master/));
    this.ports.push(port);
    const protectedBy = this.protection && {
      password: this.protection.password,
      tls: { ca: readFileSync(this.protection.certificate.certificateFile) },
    };
    const client = new Redis(port, '127.0.0.1', { retryStrategy: () => 20, ...protectedBy });
    client.on('error', () => {});
    this.clients.push(client);
  }

  private listening(port: number): string[] {
    if (this.protection === undefined) return [`port ${port}`];
    const { password, certificate } = this.protection;
    return [
      'port 0',
      `tls-port ${port}`,
      `tls-cert-file ${certificate.certificateFile}`,
      `tls-key-file ${certificate.keyFile}`,
      `tls-ca-cert-file ${certificate.certificateFile}`,
      'tls-auth-clients no',
      'tls-replication yes',
      `requirepass ${password}`,
      `sentinel sentinel-pass ${password}`,
    ];
  }

  private async know(replicas: number): Promise<boolean> {
    for (const client of this.clients) {
      const fields = (await client.call('SENTINEL', 'MASTER', NAME)) as string[];
      const count = (name: string) => Number(fields[fields.indexOf(name) + 1]);
      if (count('num-other-sentinels') !== COUNT - 1 || count('num-slaves') !== replicas) return false;
    }
    return true;
  }
}
