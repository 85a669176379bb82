import { Command } from 'commander';
import { ConfigError } from '../config/load.js';
import { ToolError } from '../restore/store-reader.js';
import { RecoveryError } from '../shard/log-reader.js';
import { FormatError } from '../store/format/format-error.js';
import { addAcceptLoss } from './accept-loss.js';
import { addBackup } from './backup.js';
import { EXIT } from './exit-codes.js';
import { addExport } from './export.js';
import { init } from './init.js';
import { addInspect } from './inspect.js';
import { StoreError } from './open-store.js';
import { addRestore } from './restore.js';
import { type ServeOptions, serve } from './serve.js';
import { addSnapshot } from './snapshot.js';
import { printable } from './table.js';
import { addVerify } from './verify.js';
import { VERSION } from './version.js';

const program = new Command('walletd')
  .description("The operator's side of a game platform's wallet callbacks.")
  .version(VERSION)
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

addBackup(program);
addRestore(program);
addVerify(program);
addInspect(program);
addExport(program);
addSnapshot(program);
addAcceptLoss(program);

try {
  await program.parseAsync();
} catch (error) {
  // What people can mend gets one sentence; everything else is ours, with its stack.
  const theirs = [ConfigError, StoreError, RecoveryError, FormatError, ToolError];
  const isTheirs = theirs.some((type) => error instanceof type);
  const { message, stack } = error as Error;
  console.error(`walletd: ${isTheirs || isSystemError(error) ? printable(message) : stack}`);
  process.exit(error instanceof ConfigError ? EXIT.usage : EXIT.failure);
}

/** A port that is taken, a folder that cannot be written. */
function isSystemError(error: unknown): boolean {
  return (
    typeof (error as { syscall?: unknown }).syscall === 'string' || /^cannot listen/.test((error as Error).message)
  );
}
