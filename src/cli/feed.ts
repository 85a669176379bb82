import { writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import { ConfigError } from '../config/config-error.js';
import { loadSettings } from '../config/load.js';
import type { Settings } from '../config/schema.js';
import { EXIT } from '../node/settings/exit-codes.js';
import { loadTls } from '../node/settings/tls.js';
import { paceOf } from '../push/pace.js';
import { type FeedSource, pump } from '../push/pump.js';
import { ReplayFile } from '../push/replay-file.js';
import { Retry, type RetryDeps } from '../push/retry.js';
import { LogOutput } from '../telemetry/log-output.js';
import { createLogger } from '../telemetry/logger.js';
import { OperatorApi } from '../tools/verify/operator-api.js';
import { argument } from './argument.js';
import { helpText } from './command.js';
import { FeedServer } from './feed-server.js';
import { openSink, type SinkOptions, sinkAddressOf } from './feed-sink.js';
import { operatorApiUrl, tokenForTools } from './running-server.js';
import { stopSignal } from './stop-signal.js';

/** Events per page. The process holds one page in memory. */
const PAGE_EVENTS = 500;
const PARALLEL = 8;
const PARALLEL_MAX = 256;
const LENGTH_MAX = 2 ** 31 - 1;
/** Time to finish the current page after SIGTERM. */
const STOP_MAX_MS = 20_000;
const STDERR = 2;

interface FeedOptions extends SinkOptions {
  readonly name?: string;
  readonly to: string;
  readonly from: string;
  readonly types?: string[];
  readonly products?: string[];
  readonly currencies?: string[];
  readonly server?: string;
  readonly replay?: string;
}

export function addFeed(program: Command): void {
  program
    .command('feed')
    .description('push the events of one feed to a webhook, a message server or stdout, beside the server')
    .requiredOption(
      '--to <sink>',
      'stdout, webhook:https://…, redis://…#STREAM, nats://…, amqp://…#EXCHANGE, or env:NAME, a variable with one of these',
    )
    .option('--name <name>', 'name of the feed on the server, which keeps its position; created if it does not exist')
    .option('--from <position>', 'where a new feed begins: now, start or a position', 'now')
    .option('--types <types>', 'only these types of events, such as walletd.bet.settled', argument(parseList))
    .option('--products <ids>', 'only events of these products', argument(parseList))
    .option('--currencies <codes>', 'only events in these currencies', argument(parseList))
    .option('--server <url>', 'the operator API (default: from the settings); the token is that of admin.token')
    .option('--secret-file <file>', 'for a webhook: the secrets that sign requests (whsec_…), one per line')
    .option('--dead-letters <file>', 'for a webhook: keep events that the receiver has refused ten times')
    .option('--replay <file>', 'send the events of this file, such as dead letters, instead of a feed, and end')
    .option('--parallel <n>', 'for a webhook: requests at a time', argument(whole(PARALLEL_MAX)), PARALLEL)
    .option('--max-length <n>', 'for Redis: delete the oldest events of a longer stream', argument(whole(LENGTH_MAX)))
    .addHelpText(
      'after',
      helpText({
        notes: [
          `\
Events come at least once, and in order per player. The sink's confirmation moves the position of the feed. A sink that is away, slow or
full makes the feed wait. For several sinks, run one process per sink, each with a feed of its own. See docs/feed-sinks.md.`,
        ],
        exitCodes: `${EXIT.ok} stopped, or replayed; ${EXIT.failure} the server refused the feed; ${EXIT.usage} wrong settings or arguments, or the feed was deleted.`,
        examples: [
          'walletd feed --name warehouse --to stdout | kcat -b kafka:9092 -t wallets',
          'walletd feed --name crm --to webhook:https://crm.example/wallet --secret-file key --dead-letters refused',
          'walletd feed --to webhook:https://crm.example/wallet --secret-file key --dead-letters again --replay refused',
          'walletd feed --name limits --to env:LIMITS_REDIS --types walletd.bet.placed,walletd.bet.settled',
        ],
      }),
    )
    .action(feed);
}

async function feed(options: FeedOptions): Promise<void> {
  const settings = loadSettings({ ...process.env, WALLETD_INSECURE: 'true' }, ['signature.keys', 'store']);
  const address = sinkAddressOf(options.to);
  // Events may go to stdout, so the log goes to stderr.
  const log = createLogger(
    settings.log.level,
    { feed: options.name },
    new LogOutput((bytes) => writeSync(STDERR, bytes)),
  );
  const stop = stopSignal(() => EXIT.ok, STOP_MAX_MS);
  const url = (options.server ?? operatorApiUrl(settings)).replace(/\/$/, '');
  const source = sourceOf(options, settings, url, stop);
  const deps = retryDeps(log, stop);
  const sinkRetry = new Retry(deps, {
    code: 'feed-sink-away',
    away: 'sink does not take events, will retry',
    back: 'sink takes events again',
    name: address.name,
  });
  const sink = await openSink(address, options, log, sinkRetry);
  const sourceRetry = new Retry(deps, {
    code: 'feed-server-away',
    away: 'server does not answer the feed, will retry',
    back: 'server answers the feed again',
    name: url,
  });
  log.info({ sink: address.name, server: url }, 'feed begun');
  const pace = paceOf(PAGE_EVENTS, () => performance.now(), delay);
  const { events } = await pump({ source, sink, sourceRetry, sinkRetry, log, stop, pace });
  await sink.close();
  log.info({ events }, 'feed ended');
}

/** The file to replay, or else the feed on the server. */
function sourceOf(options: FeedOptions, settings: Settings, url: string, stop: AbortSignal): FeedSource {
  const { name, from, types, products, currencies, replay } = options;
  if (replay !== undefined) {
    if (name !== undefined) throw new ConfigError('--replay needs no --name: it sends the events of a file');
    if (replay === options.deadLetters) throw new ConfigError('--replay and --dead-letters must name different files');
    return new ReplayFile(replay, PAGE_EVENTS);
  }
  if (name === undefined) throw new ConfigError('--name must name the feed');
  // The settings describe the certificate of their own server only.
  const certificate = options.server === undefined ? loadTls(settings.admin.tls, 'admin.tls')?.certificate : undefined;
  const api = new OperatorApi(url, tokenForTools(settings), certificate);
  const filter = { ...(types && { types }), ...(products && { products }), ...(currencies && { currencies }) };
  return new FeedServer(api, { name, filter, from }, PAGE_EVENTS, stop);
}

function retryDeps(log: RetryDeps['log'], stop: AbortSignal): RetryDeps {
  return {
    log,
    delay: (ms, signal) => delay(ms, undefined, { signal }),
    random: Math.random,
    monotonicMs: () => performance.now(),
    stop,
  };
}

function parseList(text: string): string[] {
  const items = text.split(',');
  if (items.includes('')) throw new Error('It must be a list with commas and no empty item');
  return items;
}

function whole(max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < 1 || value > max) {
      throw new Error(`It must be a whole number from 1 to ${max}`);
    }
    return value;
  };
}
