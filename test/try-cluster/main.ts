import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Command, InvalidArgumentError } from 'commander';
import { LocalCluster } from '../support/local-cluster.js';
import { RedisCluster } from '../support/redis-cluster.js';
import { whyNoRedis } from '../support/versions.js';
import { CountingConsumer } from './counting-consumer.js';
import { addresses, firstBet } from './guide.js';
import { HELP, Orders } from './orders.js';

/*
 * A cluster to try by hand, built from the parts of the fault tests. Each child process is registered when it starts,
 * so that the program ends it at exit, even after an error. The cluster holds no real money, so shutdown does not wait.
 */
const NODES = 3;
const SHARDS = 12;
const MASTERS = 3;
const REPLICAS = 2;
const COUNT_MS = 1000;
const PORT = 3000;
const PORT_MAX = 65_534;

const { port } = new Command('npm run cluster --')
  .description(
    `Starts ${NODES} nodes of walletd on a Redis Cluster of ${MASTERS} masters with ${REPLICAS} replicas each, and a round-robin ` +
      'balancer before them, and reads the event feed: on loopback, and in a temporary folder. Ctrl-C ends all of it and removes the folder.',
  )
  .option(
    '--port <n>',
    'where the balancer takes callbacks; the port after it is for operators; 0: free ones',
    whole,
    PORT,
  )
  .addHelpText('after', `\nWhile it runs it takes orders, a line each:\n${HELP}`)
  .parse()
  .opts<{ port: number }>();

const missing = whyNoRedis();
if (missing !== undefined) {
  console.error(missing);
  process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), 'walletd-cluster-'));
// All parts put their temporary files into this folder.
process.env.TMPDIR = folder;
// A process that was just killed may still be writing.
process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(0));

try {
  const cluster = await start();
  console.log(addresses(cluster, folder));
  console.log(firstBet(cluster));
  console.log(`\nOrders:\n${HELP}\n`);
  const orders = new Orders(cluster, console.log);
  await orders.run('status');
  consume(cluster);
  for await (const line of createInterface({ input: process.stdin })) {
    await orders.run(line).catch((error: Error) => console.error(error.message));
  }
  process.exit(0);
} catch (error) {
  const { message, code } = error as NodeJS.ErrnoException;
  console.error(code === 'EADDRINUSE' ? `${message}: take others with npm run cluster -- --port 0` : message);
  process.exit(1);
}

/** Says how many events a consumer of the feed has read, whenever the number has changed. */
function consume(cluster: LocalCluster): void {
  const consumer = new CountingConsumer(cluster);
  void consumer.run();
  let said = 0;
  setInterval(() => {
    if (consumer.events === said) return;
    said = consumer.events;
    console.log(`the consumer of the feed has read ${said} events`);
  }, COUNT_MS);
}

async function start(): Promise<LocalCluster> {
  console.log(`starting a Redis Cluster of ${MASTERS} masters with ${REPLICAS} replicas each ...`);
  const redis = await RedisCluster.start({ masters: MASTERS, replicas: REPLICAS });
  console.log(`starting ${NODES} nodes of walletd ...`);
  return await LocalCluster.start({
    nodes: NODES,
    callbackPort: port,
    adminPort: port === 0 ? 0 : port + 1,
    env: {
      WALLETD_STORE: redis.url,
      WALLETD_DURABILITY: 'replicas:1',
      WALLETD_SHARDS: String(SHARDS),
      WALLETD_CLUSTER_SECRET: randomBytes(24).toString('hex'),
      WALLETD_ADMIN_TOKEN: randomBytes(24).toString('hex'),
    },
  });
}

function whole(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > PORT_MAX) {
    throw new InvalidArgumentError(`It must be a whole number up to ${PORT_MAX}.`);
  }
  return value;
}
