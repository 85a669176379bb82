import type { Command } from 'commander';
import { loadWithSources, scalarPaths, TABLES } from '../config/load.js';
import { holdsSecret } from '../config/secrets.js';
import { type Tree, valueAt } from '../config/tree.js';
import { formatTable } from './print/table.js';
import { conclude, helpText, type Outcome, type OutputOptions } from './verb.js';

/** A setting in force. */
interface InForce {
  readonly setting: string;
  /** As JSON has it; null: unset. */
  readonly value: unknown;
  /** The variable or the file that it comes from. */
  readonly from: string;
}

const HIDDEN = '(hidden)';
/** Up to the last @: a password may have one that nobody has escaped. */
const CREDENTIALS = /\/\/.*@/;

export function addConfig(program: Command): void {
  program
    .command('config')
    .description('show the settings that are in force and where each comes from; secrets are hidden')
    .option('--all', 'also those that nobody has changed')
    .option('--json', 'one JSON object a line')
    .addHelpText(
      'after',
      helpText({
        exitCodes: '0 they are in order, 2 they are not',
        examples: ['walletd config', 'WALLETD_CONFIG=/etc/walletd.json walletd config --all'],
      }),
    )
    .action((options: OutputOptions & { all?: true }) => conclude(config(options.all === true), options));
}

async function config(all: boolean): Promise<Outcome> {
  const { settings, sources } = loadWithSources(process.env);
  const tree = settings as unknown as Tree;
  const inForce = [...scalarPaths(tree), ...TABLES].map((setting): InForce => {
    return { setting, value: shown(setting, valueAt(tree, setting)), from: sources.get(setting) ?? 'default' };
  });
  const wanted = inForce.filter(({ from }) => all || from !== 'default');
  return {
    text: () => {
      if (wanted.length === 0) return 'All settings are the defaults: walletd config --all shows them.';
      const rows = wanted.map(({ setting, value, from }) => [setting, value === null ? 'unset' : textOf(value), from]);
      return formatTable(['setting', 'value', 'from'], rows);
    },
    json: () => wanted,
  };
}

/** The address of a store is no secret, but its password is. */
function shown(setting: string, value: unknown): unknown {
  if (value === null || !holdsSecret(setting)) return value;
  return setting === 'store' ? String(value).replace(CREDENTIALS, `//${HIDDEN}@`) : HIDDEN;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
