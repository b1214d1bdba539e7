/** `completion`: a script by which a shell completes commands and options. */

import type { Command } from 'commander'
import { needed, type OptionTable } from '../../options/entry.ts'
import { choiceOf } from '../../options/value-types.ts'
import { addCommand } from '../add-command.ts'
import { print } from '../output/print.ts'

const COMPLETION = {
  shell: needed(choiceOf('<shell>', 'bash', 'zsh', 'fish'), 'for which shell', { argument: '<shell>' }),
} as const satisfies OptionTable

/** @param allCommands the program with all its commands, which this one knows nothing of */
export const addCompletion = (program: Command, allCommands: () => Promise<Command>): void => {
  addCommand(program, {
    name: 'completion',
    summary: 'print a script that completes commands and options in a shell',
    description: 'Prints a script for bash, zsh or fish that completes commands, options and their choices.',
    options: COMPLETION,
    run: async ({ shell }) => {
      const { completionScript } = await import('../config/completion-script.ts')
      await print(completionScript(await allCommands(), shell))
    },
    examples: [
      ['completion bash > ~/.local/share/bash-completion/completions/firmlake', 'for bash'],
      ['completion zsh > ~/.zfunc/_firmlake', 'for zsh, with ~/.zfunc in fpath'],
      ['completion fish > ~/.config/fish/completions/firmlake.fish', 'for fish'],
    ],
  })
}
