import { Command } from 'commander';
import { EXIT } from '../node/exit-codes.js';
import { VERSION } from '../node/version.js';
import type { ServeOptions } from './serve.js';

/** Those that bring options of their own, in the order of the help. */
const VERBS: Readonly<Record<string, () => Promise<(program: Command) => void>>> = {
  backup: async () => (await import('./backup.js')).addBackup,
  restore: async () => (await import('./restore.js')).addRestore,
  verify: async () => (await import('./verify.js')).addVerify,
  inspect: async () => (await import('./inspect.js')).addInspect,
  export: async () => (await import('./export.js')).addExport,
  snapshot: async () => (await import('./snapshot.js')).addSnapshot,
  'accept-loss': async () => (await import('./accept-loss.js')).addAcceptLoss,
};

const NEED_NO_VERB = ['serve', 'init', '--version', '-V'];

/** What people can mend gets one sentence; everything else is ours, with its stack. */
const THEIRS = ['ConfigError', 'StoreError', 'RecoveryError', 'FormatError', 'ToolError'];

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
  .action(async (options: ServeOptions) => (await import('./serve.js')).serve(options));

program
  .command('init')
  .description('create the store; changes nothing where there is one')
  .argument('[store]', 'lmdb:FOLDER, redis://… (default: WALLETD_STORE; a password is safer there than in an argument)')
  .action(async (store?: string) => (await import('./init.js')).init(store));

// Whoever reads a list that a full disk has cut short must not take it for whole. A server goes on without its log.
if (process.argv[2] !== 'serve') {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    console.error(`walletd: ${error.message}`);
    process.exit(EXIT.failure);
  });
}

try {
  await addVerbs(process.argv[2] ?? '');
  await program.parseAsync();
} catch (error) {
  const { name, message, stack } = error as Error;
  const { printable } = await import('./print/table.js');
  console.error(`walletd: ${THEIRS.includes(name) || isSystemError(error) ? printable(message) : stack}`);
  process.exit(name === 'ConfigError' ? EXIT.usage : EXIT.failure);
}

/** Only the one that is called, where one is: to load them all takes half a second. */
async function addVerbs(called: string): Promise<void> {
  for (const [verb, load] of Object.entries(VERBS)) {
    if (verb === called || !(called in VERBS || NEED_NO_VERB.includes(called))) (await load())(program);
  }
}

/** A port that is taken, a folder that cannot be written. */
function isSystemError(error: unknown): boolean {
  return (
    typeof (error as { syscall?: unknown }).syscall === 'string' || /^cannot listen/.test((error as Error).message)
  );
}
