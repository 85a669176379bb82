import { type Command, InvalidArgumentError } from 'commander';
import { ConfigError } from '../config/config-error.js';
import { EXIT } from '../node/settings/exit-codes.js';
import { parseRotation } from '../tools/backup/rotation.js';
import { argument } from './argument.js';
import { PIPE } from './backup-input.js';
import { BackupRun, type BackupRunOptions } from './backup-run.js';
import { helpText } from './command.js';
import { Progress } from './print/progress.js';
import { STORE_ADDRESS_HELP } from './store-address.js';
import { withStoreToRead } from './with-store.js';

interface BackupOptions extends BackupRunOptions {
  readonly from?: string;
}

export function addBackup(program: Command): void {
  program
    .command('backup')
    .description('copy a store, running or stopped, into one compressed file; only reads the store')
    .requiredOption('--to <file>', 'a new file, or - for a pipe; --follow continues an existing file')
    .option('--from <store>', 'the store (default: WALLETD_STORE)')
    .option('--follow', 'append new entries until SIGINT or SIGTERM')
    .option(
      '--rotate <size|time>',
      '--to is a folder; start a new complete backup in it after, for example, 8GiB or 24h',
      argument(parseRotation),
    )
    .option('--keep <number>', 'number of finished backups to keep in the folder', argument(parseKeep))
    .option('--then <command>', 'shell command to run for each finished file; {} stands for its path')
    .option('--recipient <key>', 'encrypt for this age public key; can be repeated', addRecipient)
    .option('--heartbeat <file>', 'with --follow: file that receives the time up to which the backup is complete')
    .option('--metrics <file>', "with --follow: metrics file for the textfile collector of Prometheus' node_exporter")
    .option('--json', 'print one JSON object for each step instead of tables')
    .addHelpText(
      'after',
      helpText({
        notes: [
          STORE_ADDRESS_HELP,
          `\
With --rotate, each file is a complete backup: you can delete files that are older than the oldest moment that you may want to restore.
An encrypted file (--recipient, see https://age-encryption.org) cannot be continued, so --follow needs --rotate then. It keeps
the name of a partial file until it is finished.`,
        ],
        exitCodes: `${EXIT.ok} written, or followed until a signal; ${EXIT.failure} failed; ${EXIT.otherArchive} with --follow: WALLETD_ARCHIVE
is not the archive that walletd uses. Every file without a partial name is complete.`,
        examples: [
          'walletd backup --to /var/backups/wallets-2026-01-31',
          'walletd backup --to /var/backups/wallets --follow --from env:WALLETS_REDIS',
          "walletd backup --to /var/backups --follow --rotate 24h --keep 7 --then 'aws s3 cp {} s3://wallets/'",
          'walletd backup --to - --recipient age1… | ssh elsewhere "cat > wallets.age"',
        ],
      }),
    )
    .action(async (options: BackupOptions) => {
      checkOptions(options);
      const progress = new Progress('Backing up', !options.json);
      await withStoreToRead(options.from, progress, (source) => new BackupRun(source, options).run());
    });
}

function parseKeep(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new Error('it must be a number of files, at least 1');
  return Number(text);
}

function addRecipient(text: string, others: readonly string[] = []): readonly string[] {
  if (!/^age1[0-9a-z]{50,}$/.test(text)) {
    throw new InvalidArgumentError('it must be the public key of an age identity, which begins with age1.');
  }
  return [...others, text];
}

function checkOptions({ to, follow, rotate, keep, recipient, heartbeat, metrics, then }: BackupOptions): void {
  const isPipe = to === PIPE;
  const refusals: readonly (readonly [unknown, string])[] = [
    [isPipe && follow, '--follow requires a file, not a pipe'],
    [isPipe && then !== undefined, '--then requires a file, and --to - writes none'],
    [rotate !== undefined && !follow, '--rotate requires --follow'],
    [keep !== undefined && rotate === undefined, '--keep requires --rotate'],
    [follow && recipient !== undefined && rotate === undefined, '--recipient with --follow also requires --rotate'],
    [follow && then !== undefined && rotate === undefined, '--then with --follow also requires --rotate'],
    [(heartbeat !== undefined || metrics !== undefined) && !follow, '--heartbeat and --metrics require --follow'],
  ];
  const refused = refusals.find(([is]) => is);
  if (refused !== undefined) throw new ConfigError(refused[1]);
}
