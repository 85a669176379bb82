import type { Command } from 'commander';
import { inForce } from '../config/in-force.js';
import { loadWithSources } from '../config/load.js';
import { conclude, helpText, type Outcome, type OutputOptions } from './command.js';
import { formatTable } from './print/table.js';

export function addConfig(program: Command): void {
  program
    .command('config')
    .description('show the settings in force and their sources; hides secrets')
    .option('--all', 'also settings with their default value')
    .option('--json', 'print one JSON object per line')
    .addHelpText(
      'after',
      helpText({
        exitCodes: '0 the settings are valid, 2 they are not',
        examples: ['walletd config', 'WALLETD_CONFIG=/etc/walletd.json walletd config --all'],
      }),
    )
    .action((options: OutputOptions & { all?: true }) => conclude(config(options.all === true), options));
}

async function config(all: boolean): Promise<Outcome> {
  const wanted = inForce(loadWithSources(process.env)).filter(({ from }) => all || from !== 'default');
  return {
    text: () => {
      if (wanted.length === 0) return 'All settings are the defaults: walletd config --all shows them.';
      const rows = wanted.map(({ setting, value, from }) => [setting, value === null ? 'unset' : textOf(value), from]);
      return formatTable(['setting', 'value', 'from'], rows);
    },
    json: () => wanted,
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
