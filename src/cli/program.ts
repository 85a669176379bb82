import { Command, CommanderError, type OutputConfiguration } from 'commander';
import { UserError } from '../base/user-error.js';
import { concealed } from '../config/in-force.js';
import { EXIT } from '../node/settings/exit-codes.js';
import { BUILD } from '../node/settings/version.js';
import { printable } from './print/printable.js';

/** Commands in the order in which the help lists them. */
const COMMANDS: Readonly<Record<string, () => Promise<(program: Command) => void>>> = {
  serve: async () => (await import('./serve.js')).addServe,
  status: async () => (await import('./status.js')).addStatus,
  cluster: async () => (await import('./cluster.js')).addCluster,
  doctor: async () => (await import('./doctor.js')).addDoctor,
  config: async () => (await import('./config.js')).addConfig,
  init: async () => (await import('./init.js')).addInit,
  backup: async () => (await import('./backup.js')).addBackup,
  restore: async () => (await import('./restore.js')).addRestore,
  verify: async () => (await import('./verify.js')).addVerify,
  inspect: async () => (await import('./inspect.js')).addInspect,
  reconcile: async () => (await import('./reconcile.js')).addReconcile,
  simulate: async () => (await import('./simulate.js')).addSimulate,
  export: async () => (await import('./export.js')).addExport,
  feed: async () => (await import('./feed.js')).addFeed,
  snapshot: async () => (await import('./snapshot.js')).addSnapshot,
  undo: async () => (await import('./undo.js')).addUndo,
  'accept-loss': async () => (await import('./accept-loss.js')).addAcceptLoss,
  completion: async () => (await import('./completion.js')).addCompletion,
};

const NEED_NO_COMMAND = ['--version', '-V'];
/** The command that needs all others to be loaded, because its script lists every command. */
const NEEDS_ALL = 'completion';

/**
 * Builds the command line with only the command that was called. The help needs all commands, which take half a second
 * to load. `output` receives the help and the errors about arguments.
 */
export async function makeProgram(called = '', output: OutputConfiguration = {}): Promise<Command> {
  const program = new Command('walletd')
    .description("The operator's side of a game platform's wallet callbacks.")
    .version(BUILD)
    .showHelpAfterError('(walletd --help lists the commands)')
    .addHelpText(
      'after',
      `
Settings come from config/default.json, the file named in WALLETD_CONFIG, and WALLETD_… variables: see docs/settings.md.

Exit codes: ${EXIT.ok} success, ${EXIT.failure} failure, ${EXIT.usage} wrong settings or arguments, \
${EXIT.fenced} another process took over the store, ${EXIT.cutOff} the backup was cut off, ${EXIT.otherArchive} walletd uses a different archive from \
the follower of the backup.`,
    )
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(concealed(text)), ...output });
  const isOne = Object.hasOwn(COMMANDS, called) && called !== NEEDS_ALL;
  for (const [command, load] of Object.entries(COMMANDS)) {
    if (command === called || !(isOne || NEED_NO_COMMAND.includes(called))) (await load())(program);
  }
  return program;
}

/** Prints why a command failed, and returns the exit code. */
export function explain(error: unknown): number {
  // commander has already printed the error. Its help and version output also end here.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const { message, stack } = error as Error;
  const isSentence = error instanceof UserError || isSystemError(error);
  console.error(`walletd: ${isSentence ? concealed(printable(message)) : stack}`);
  return EXIT[error instanceof UserError ? error.ending : 'failure'];
}

/** System errors, such as a port in use or a folder that cannot be written. */
function isSystemError(error: unknown): boolean {
  return typeof (error as { syscall?: unknown }).syscall === 'string';
}
