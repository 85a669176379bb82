import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connect as connectNats } from '@nats-io/transport-node';
import { endAfterTests } from './children.js';
import { freePort } from './free-port.js';
import { makeTempFolder } from './temp-folder.js';
import { until } from './until.js';

/** The reason to skip a test; false if nats-server is installed. */
export const NO_NATS = spawnSync('nats-server', ['--version']).status === 0 ? false : 'no nats-server here';

/** A real nats-server with JetStream, on a free port. */
export class NatsServer {
  private readonly folder = makeTempFolder();
  private child: ChildProcess | undefined = undefined;

  private constructor(readonly port: number) {}

  static async start(): Promise<NatsServer> {
    const server = new NatsServer(await freePort());
    await server.start();
    return server;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const args = ['-a', '127.0.0.1', '-p', String(this.port), '-js', '-sd', this.folder.path];
    this.child = endAfterTests(spawn('nats-server', args, { stdio: 'ignore' }));
    await until('nats-server listens', () => isListening(this.port));
  }

  /** Runs `use` with a separate connection for the test. */
  async manage<T>(use: (manager: JetStreamManager) => Promise<T>): Promise<T> {
    const connection = await connectNats({ servers: `127.0.0.1:${this.port}` });
    try {
      return await use(await jetstreamManager(connection));
    } finally {
      await connection.close();
    }
  }

  async end(): Promise<void> {
    const { child } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  async destroy(): Promise<void> {
    await this.end();
    this.folder.remove();
  }
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
