/** `docs/reference/commands.md`: the help of each command, as the command line prints it. */

import type { Command } from 'commander'
import { newProgram } from '../src/cli/new-program.ts'

const WIDTH = 110

/** The whole help of a command, with the examples that stand below it. */
const helpOf = (command: Command): string => {
  let text = ''
  command.configureOutput({
    writeOut: (part) => {
      text += part
    },
    getOutHelpWidth: () => WIDTH,
    getOutHasColors: () => false,
  })
  command.outputHelp()
  return text.trim()
}

const isHelp = (command: Command): boolean => command.name() === 'help'

/** A command, or the commands of a group. */
const sectionsOf = (command: Command, words: string): string[] => {
  const inner = command.commands.filter((one) => !isHelp(one))
  const own = `## ${words}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\`\n`
  return [own, ...inner.flatMap((one) => sectionsOf(one, `${words} ${one.name()}`))]
}

/** @param made says where the page comes from */
export const commandsText = async (made: string): Promise<string> => `# Commands

${made}

${sectionsOf(await newProgram(['--all']), 'firmlake').join('\n')}`
