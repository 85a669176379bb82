import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import { ConfigError } from '../config/load.js';
import { BackupError } from '../restore/backup-error.js';
import { type At, parseAt } from '../restore/point-in-time.js';
import { ToolError } from '../restore/store-reader.js';
import { RecoveryError } from '../shard/log-reader.js';
import { FormatError } from '../store/format/format-error.js';
import { addAcceptLoss } from './accept-loss.js';
import { type BackupOptions, backup } from './backup.js';
import { EXIT } from './exit-codes.js';
import { init } from './init.js';
import { addInspect } from './inspect.js';
import { StoreError } from './open-store.js';
import { type RestoreOptions, restore } from './restore.js';
import { type ServeOptions, serve } from './serve.js';
import { addSnapshot } from './snapshot.js';
import { STORE_ADDRESS_HELP } from './store-address.js';
import { addVerify } from './verify.js';

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const program = new Command('walletd')
  .description("The operator's side of a game platform's wallet callbacks.")
  .version(version)
  .showHelpAfterError('(walletd --help lists the commands)')
  .addHelpText(
    'after',
    `
Settings come from config/default.json, a file named in WALLETD_CONFIG, and WALLETD_… variables; the README lists them.

Exit codes: ${EXIT.ok} ended in good order, ${EXIT.failure} failed, ${EXIT.usage} wrong settings or arguments, \
${EXIT.fenced} another process took the store over.`,
  )
  .exitOverride((error) => process.exit(error.exitCode === 0 ? EXIT.ok : EXIT.usage));

program
  .command('serve')
  .description('answer callbacks and the operator API until SIGTERM or SIGINT')
  .option('--insecure', 'let unauthenticated callbacks in from elsewhere than this machine')
  .action((options: ServeOptions) => serve(options));

program
  .command('init')
  .description('create the store; changes nothing where there is one')
  .argument('[store]', 'lmdb:FOLDER, redis://… (default: WALLETD_STORE; a password is safer there than in an argument)')
  .action((store?: string) => init(store));

program
  .command('backup')
  .description('write a store, serving or not, into one compressed file; the store is only read')
  .requiredOption('--to <file>', 'the file; it must not be there yet, except with --follow')
  .option('--from <store>', 'the store (default: WALLETD_STORE)')
  .option('--follow', 'keep appending what comes until SIGINT or SIGTERM; a file that is there is continued')
  .option('--json', 'print the result for scripts')
  .addHelpText(
    'after',
    `
${STORE_ADDRESS_HELP}

Example:
  walletd backup --to /backups/wallets-2026-01-31.backup
  walletd backup --from redis://10.0.0.1 --to /backups/wallets.backup --follow`,
  )
  .action((options: BackupOptions) => backup(options));

program
  .command('restore')
  .description('write a backup, or another store, into an empty store')
  .requiredOption('--from <file|store>', 'a file that backup has written, or a store, serving or not')
  .requiredOption('--to <store>', 'an empty store')
  .option('--at <time|lsn>', 'restore an earlier moment, see below', parsePointInTime)
  .option('--json', 'print the result for scripts')
  .addHelpText(
    'after',
    `
${STORE_ADDRESS_HELP}

--at TIME is ISO 8601 with its zone (2026-01-31T12:00:00Z, 2026-01-31T19:00:00+07:00) or milliseconds since 1970. Each
shard is restored up to its last log entry whose newest event is not later than that, by the shard's own clock: between
players of different shards the cut can be some milliseconds apart.
--at SHARD:LSN[,SHARD:LSN...] restores those shards up to these log entries, and all others to their end.

Restored from another store without --at, the new store is the same store elsewhere: stop the old one first, or what it
answers after the copy is not in the new one.

Examples:
  walletd restore --from /backups/wallets.backup --to lmdb:./restored
  walletd restore --from lmdb:./data --to redis://10.0.0.1
  walletd restore --from /backups/wallets.backup --to lmdb:./restored --at 2026-01-31T12:00:00Z`,
  )
  .action((options: RestoreOptions) => restore(options));

addVerify(program);
addInspect(program);
addSnapshot(program);
addAcceptLoss(program);

try {
  await program.parseAsync();
} catch (error) {
  // What people can mend gets one sentence; everything else is ours, with its stack.
  const theirs = [ConfigError, StoreError, RecoveryError, FormatError, ToolError, BackupError];
  const isTheirs = theirs.some((type) => error instanceof type);
  const { message, stack } = error as Error;
  console.error(`walletd: ${isTheirs || isSystemError(error) ? message : stack}`);
  process.exit(error instanceof ConfigError ? EXIT.usage : EXIT.failure);
}

function parsePointInTime(text: string): At {
  try {
    return parseAt(text);
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message}.`);
  }
}

/** A port that is taken, a folder that cannot be written. */
function isSystemError(error: unknown): boolean {
  return (
    typeof (error as { syscall?: unknown }).syscall === 'string' || /^cannot listen/.test((error as Error).message)
  );
}
