import type { Command } from 'commander';
import { loadSettings, loadWithSources } from '../config/load.js';
import { replaceGoneTerminals } from '../node/boot/gone-terminal.js';
import type { WalletNode } from '../node/boot/wallet-node.js';
import { EXIT } from '../node/settings/exit-codes.js';
import { createLogger, setLogLevel } from '../telemetry/logger.js';

/**
 * Operators are promised that a process ends within 5 s of its signal. A cluster node hands over its shards before it
 * ends.
 */
const STOP_MAX_MS = 4800;

/** Settings that a first installation needs. docs/settings.md has all of them. */
const FIRST_SETTINGS = `
Settings that most installations need (variables, or paths in the JSON file of WALLETD_CONFIG):
  WALLETD_STORE                     lmdb:FOLDER or a Redis address (default: lmdb:./data)
  WALLETD_NODE_FOLDER               what this machine has acknowledged (default: ./node)
  WALLETD_ARCHIVE                   PostgreSQL for closed rounds of a store in Redis
  WALLETD_HOST, WALLETD_PORT        callbacks (default: 127.0.0.1, 3000)
  WALLETD_SIGNATURE_KEYS_FILE       keys of the platform; needed to serve other machines
  WALLETD_ADMIN_HOST, …_PORT        operator API and console (default: 127.0.0.1, 3001)
  WALLETD_ADMIN_TOKEN_FILE          token of the operator; needed to serve other machines

"walletd config --all" lists every setting and where it comes from; docs/settings.md explains them.

Example:
  walletd serve --check`;

interface ServeOptions {
  readonly insecure?: true;
  readonly check?: true;
}

export function addServe(program: Command): void {
  program
    .command('serve')
    .description('answer callbacks and the operator API until SIGTERM or SIGINT')
    .option('--insecure', 'accept unauthenticated callbacks and unencrypted tokens from other machines')
    .option('--check', 'only check whether it would start (settings, certificates, store); changes nothing')
    .addHelpText('after', FIRST_SETTINGS)
    .action((options: ServeOptions) => (options.check ? check(options) : serve(options)));
}

/** Throws the error that would prevent the server from starting, if there is one, like `nginx -t`. */
async function check(options: ServeOptions): Promise<void> {
  const { checkStart } = await import('../node/boot/check-start.js');
  for (const sentence of await checkStart(loadSettings(environmentOf(options)))) console.log(sentence);
  console.log('It would start.');
}

function environmentOf({ insecure }: ServeOptions): NodeJS.ProcessEnv {
  return insecure ? { ...process.env, WALLETD_INSECURE: 'true' } : process.env;
}

/** Runs until a signal stops the server or another process takes over its store. */
async function serve(options: ServeOptions): Promise<void> {
  const env = environmentOf(options);
  let hasMissedSighup = false;
  const loaded = loadWithSources(env);
  const { settings } = loaded;
  const log = createLogger(settings.log.level);
  process.on('exit', (code) => {
    node?.noteEnd(code);
    replaceGoneTerminals();
  });
  const { port, drainSeconds } = settings.cluster;
  const stopMaxMs = STOP_MAX_MS + (port === null ? 0 : drainSeconds * 1000);
  let isEnding = false;
  let node: WalletNode | undefined;

  /**
   * Ends the process. May be called twice: npm repeats a signal that the terminal has already sent to the whole process
   * group.
   */
  const end = (exitCode: number) => {
    setTimeout(() => {
      log.error({ code: 'stop-timed-out' }, 'stop timed out, outcomes of pending requests are unknown');
      process.exit(EXIT.failure);
    }, stopMaxMs).unref();
    if (isEnding) return;
    isEnding = true;
    (node?.stop() ?? Promise.resolve(true)).then(
      (inGoodOrder) => process.exit(inGoodOrder || exitCode !== EXIT.ok ? exitCode : EXIT.failure),
      (error: Error) => {
        log.error({ code: 'stop-failed', error: error.message }, 'stop failed');
        process.exit(EXIT.failure);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      log.info({ signal }, 'stopping');
      end(EXIT.ok);
    });
  }

  /**
   * Reloads keys, networks, tokens, certificates and the log level without interrupting callbacks. If the settings are
   * invalid, nothing changes.
   */
  const readAgain = () => {
    hasMissedSighup = node === undefined;
    try {
      const fresh = loadWithSources(env);
      node?.readAgain(fresh);
      setLogLevel(log, fresh.settings.log.level);
    } catch (error) {
      log.error(
        { code: 'settings-not-reloaded', error: (error as Error).message },
        'cannot reload caller settings, keeping the current ones',
      );
    }
  };
  process.on('SIGHUP', readAgain);
  // By default Node opens its inspector on this signal. Through the inspector, any user who may send the signal could
  // read keys and move money.
  process.on('SIGUSR1', () => log.warn({ code: 'inspector-refused' }, 'ignored a signal to open the inspector'));
  try {
    // Load the node module late, because it takes a third of a second. Reports about invalid settings, and the help,
    // should not wait for it.
    const { WalletNode } = await import('../node/boot/wallet-node.js');
    node = await WalletNode.open(loaded, log, end);
    if (hasMissedSighup) readAgain();
    await node.start();
  } catch (error) {
    log.error({ code: 'start-refused', error: (error as Error).message }, 'refused to start');
    throw error;
  }
}
