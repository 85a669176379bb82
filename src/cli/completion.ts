import { Argument, type Command } from 'commander';
import { helpText } from './command.js';

export function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('print a script for the shell that completes commands and options')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh']))
    .addHelpText(
      'after',
      helpText({
        examples: ['walletd completion bash > /etc/bash_completion.d/walletd', 'source <(walletd completion zsh)'],
      }),
    )
    .action((shell: 'bash' | 'zsh') => console.log(shell === 'bash' ? bash(program) : zsh(program)));
}

/** Completions per command path: `snapshot` -> `list take --help`. */
function words(command: Command, path: string): [path: string, words: string][] {
  const names = command.commands.map((one) => one.name());
  const options = command.options.map(({ long, short }) => long ?? short ?? '');
  return [
    [path, [...names, ...options, '--help'].join(' ')],
    ...command.commands.flatMap((one) => words(one, `${path} ${one.name()}`.trim())),
  ];
}

/**
 * Falls back to file names where no command applies. zsh also runs this script and reserves the names `path` and
 * `words`, so the script avoids them.
 */
function bash(program: Command): string {
  const cases = words(program, '').map(([path, after]) => `    '${path}') after='${after}' ;;`);
  return `_walletd() {
  local i before= after= current=\${COMP_WORDS[COMP_CWORD]}
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[i]}" in -*) ;; *) before="\${before:+$before }\${COMP_WORDS[i]}" ;; esac
  done
  while :; do
    case "$before" in
${cases.join('\n')}
    esac
    if [ -n "$after" ]; then break; fi
    case "$before" in *' '*) before=\${before% *} ;; *) before= ;; esac
  done
  COMPREPLY=($(compgen -W "$after" -- "$current"))
}
complete -o default -F _walletd walletd`;
}

/** Loads zsh's completion system before the bash script, because a .zshrc without compinit does not load it. */
function zsh(program: Command): string {
  return `autoload -U +X compinit bashcompinit
whence compdef >/dev/null || compinit -i -D
bashcompinit
${bash(program)}`;
}
