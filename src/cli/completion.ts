import { Argument, type Command } from 'commander';
import { helpText } from './verb.js';

export function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('print what a shell needs to complete commands and options')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh']))
    .addHelpText(
      'after',
      helpText({
        examples: ['walletd completion bash > /etc/bash_completion.d/walletd', 'source <(walletd completion zsh)'],
      }),
    )
    .action((shell: 'bash' | 'zsh') => console.log(shell === 'bash' ? bash(program) : zsh(program)));
}

/** What can stand behind some words: `snapshot` -> `list take --help`. */
function words(command: Command, path: string): [path: string, words: string][] {
  const names = command.commands.map((one) => one.name());
  const options = command.options.map(({ long, short }) => long ?? short ?? '');
  return [
    [path, [...names, ...options, '--help'].join(' ')],
    ...command.commands.flatMap((one) => words(one, `${path} ${one.name()}`.trim())),
  ];
}

/** Behind a word that no command completes a file is meant. */
function bash(program: Command): string {
  const cases = words(program, '').map(([path, after]) => `    '${path}') words='${after}' ;;`);
  return `_walletd() {
  local word path= words= current=\${COMP_WORDS[COMP_CWORD]}
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) path="\${path:+$path }$word" ;; esac
  done
  while :; do
    case "$path" in
${cases.join('\n')}
    esac
    if [ -n "$words" ]; then break; fi
    case "$path" in *' '*) path=\${path% *} ;; *) path= ;; esac
  done
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _walletd walletd`;
}

function zsh(program: Command): string {
  return `autoload -U +X bashcompinit && bashcompinit\n${bash(program)}`;
}
