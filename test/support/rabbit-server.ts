import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type ChannelModel, connect } from 'amqplib';
import { endAfterTests } from './children.js';
import { freePort } from './free-port.js';
import { makeTempFolder } from './temp-folder.js';
import { until } from './until.js';

/** Unlike Debian's script on the PATH, this script does not change the user. */
const SERVER = '/usr/lib/rabbitmq/bin/rabbitmq-server';
const hasServer = existsSync(SERVER) && spawnSync('epmd', ['-names']).error === undefined;
/** The reason to skip a test; false if RabbitMQ is installed. */
export const NO_RABBIT = hasServer ? false : 'no rabbitmq-server here';

/** A real RabbitMQ on a free port, with its own port mapper and folder. */
export class RabbitServer {
  private readonly folder = makeTempFolder();
  private mapper: ChildProcess | undefined = undefined;
  private child: ChildProcess | undefined = undefined;

  private constructor(
    private readonly port: number,
    private readonly distributionPort: number,
    private readonly mapperPort: number,
  ) {}

  static async start(): Promise<RabbitServer> {
    const server = new RabbitServer(await freePort(), await freePort(), await freePort());
    // Erlang's own port mapper would keep running after the test.
    const args = ['-port', String(server.mapperPort), '-address', '127.0.0.1'];
    server.mapper = endAfterTests(spawn('epmd', args, { stdio: 'ignore' }));
    try {
      await server.start();
      return server;
    } catch (error) {
      await server.destroy();
      throw error;
    }
  }

  get url(): string {
    return `amqp://guest:guest@127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const { path } = this.folder;
    const env = {
      ...process.env,
      HOME: path,
      ERL_EPMD_PORT: String(this.mapperPort),
      RABBITMQ_NODENAME: `test${this.port}@localhost`,
      RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
      RABBITMQ_NODE_PORT: String(this.port),
      RABBITMQ_DIST_PORT: String(this.distributionPort),
      RABBITMQ_MNESIA_BASE: path,
      RABBITMQ_LOG_BASE: path,
      RABBITMQ_PID_FILE: `${path}/pid`,
      RABBITMQ_ENABLED_PLUGINS_FILE: `${path}/plugins`,
      RABBITMQ_CONFIG_FILE: `${path}/none`,
      RABBITMQ_CONF_ENV_FILE: `${path}/none`,
    };
    // Use a separate process group, because the script starts Erlang as its child.
    this.child = endAfterTests(spawn(SERVER, [], { env, stdio: 'ignore', detached: true }));
    await until('RabbitMQ answers', async () => {
      if (this.child?.exitCode !== null) throw new Error(`rabbitmq-server ended with ${this.child?.exitCode}`);
      return await this.manage(async () => true).catch(() => false);
    });
  }

  /** Runs `use` with a separate connection for the test. */
  async manage<T>(use: (connection: ChannelModel) => Promise<T>): Promise<T> {
    const connection = await connect(this.url);
    connection.on('error', () => {});
    try {
      return await use(connection);
    } finally {
      await connection.close();
    }
  }

  async end(): Promise<void> {
    const { child } = this;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    process.kill(-child.pid, 'SIGKILL');
    await once(child, 'exit');
  }

  async destroy(): Promise<void> {
    await this.end();
    this.mapper?.kill('SIGKILL');
    this.folder.remove();
  }
}
