import { loadSettings } from '../config/load.js';
import { EXIT } from '../node/exit-codes.js';
import { WalletNode } from '../node/wallet-node.js';
import { createLogger } from '../telemetry/logger.js';

const STOP_MAX_MS = 4800;

export interface ServeOptions {
  readonly insecure?: boolean;
}

/** Runs until a signal ends it, or another process takes its store. */
export async function serve(options: ServeOptions): Promise<void> {
  const env = options.insecure ? { ...process.env, WALLETD_INSECURE: 'true' } : process.env;
  let hasMissedSighup = false;
  const settings = loadSettings(env);
  const log = createLogger(settings.log.level);
  let isEnding = false;
  let node: WalletNode | undefined;

  /** Once: npm passes on a signal that the terminal has sent to the whole group already. */
  const end = (exitCode: number) => {
    // Whatever hangs: a process that was told to end ends within the 5 s that operators are promised.
    setTimeout(() => {
      log.error({}, 'could not stop in time: some outcomes are unknown');
      process.exit(EXIT.failure);
    }, STOP_MAX_MS).unref();
    if (isEnding) return;
    isEnding = true;
    (node?.stop() ?? Promise.resolve(true)).then(
      (inGoodOrder) => process.exit(inGoodOrder || exitCode !== EXIT.ok ? exitCode : EXIT.failure),
      (error: Error) => {
        log.error({ error: error.message }, 'could not stop in good order');
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

  /** Keys and networks change while callbacks come. Settings that cannot be used leave those that there are. */
  const readCallersAgain = () => {
    hasMissedSighup = node === undefined;
    try {
      node?.setCallers(loadSettings(env));
    } catch (error) {
      log.error({ error: (error as Error).message }, 'who may call could not be read again: it stays as it was');
    }
  };
  process.on('SIGHUP', readCallersAgain);
  try {
    node = await WalletNode.open(settings, log, end);
    if (hasMissedSighup) readCallersAgain();
    await node.start();
  } catch (error) {
    log.error({ error: (error as Error).message }, 'refused to start');
    throw error;
  }
}
