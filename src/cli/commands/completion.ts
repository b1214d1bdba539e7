/** `completion`: a script by which a shell completes commands and options. */

import { Argument, type Command } from 'commander'
import { withExamples } from '../help.ts'
import { print } from '../output/print.ts'

/** @param allCommands the program with all its commands, which this one knows nothing of */
export const addCompletion = (program: Command, allCommands: () => Promise<Command>): void => {
  const command = program
    .command('completion')
    .summary('print a script that completes commands and options in a shell')
    .description('Prints a script for bash, zsh or fish that completes commands, options and their choices.')
    .addArgument(new Argument('<shell>', 'for which shell').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: 'bash' | 'zsh' | 'fish') => {
      const { completionScript } = await import('../config/completion-script.ts')
      await print(completionScript(await allCommands(), shell))
    })
  withExamples(command, [
    ['completion bash > ~/.local/share/bash-completion/completions/firmlake', 'for bash'],
    ['completion zsh > ~/.zfunc/_firmlake', 'for zsh, with ~/.zfunc in fpath'],
    ['completion fish > ~/.config/fish/completions/firmlake.fish', 'for fish'],
  ])
}
