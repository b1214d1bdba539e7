/** `config` and its sub-commands: what `firmlake.toml` says, and what may stand in it. */

import type { Command } from 'commander'
import { ToolkitError } from '../../core/errors.ts'
import { JSON_OUTPUT } from '../../options/common.ts'
import { type OptionTable, option, type ValuesOf } from '../../options/entry.ts'
import { manyOf, plainText } from '../../options/value-types.ts'
import { addCommand } from '../add-command.ts'
import { loadedConfig } from '../config/loaded-config.ts'
import { note, printJson, printLines } from '../output/print.ts'
import { textTable } from '../output/text-table.ts'

/** @param allCommands the program with all its commands, which this one knows nothing of */
export const addConfig = (program: Command, allCommands: () => Promise<Command>): void => {
  const group = program
    .command('config')
    .summary('show the settings of firmlake.toml, and what may stand in it')
    .description(
      'Settings stand in firmlake.toml, in the working folder or above it. Options take precedence, then environment ' +
        'variables, then the file (docs/configuration.md).',
    )
  addShow(group, allCommands)
  addCommand(group, {
    name: 'schema',
    summary: 'print the JSON Schema of firmlake.toml, for editors',
    description: 'Prints the JSON Schema by which an editor completes and checks firmlake.toml.',
    options: {},
    run: async () => printJson((await import('../../config/read-settings.ts')).configSchema()),
    examples: [['config schema > firmlake.schema.json', 'for an editor that knows JSON Schema']],
  })
}

const SHOW = {
  words: option(manyOf(plainText()), 'a command with options, such as: pull companies --currency SEK', {
    argument: '[command...]',
  }),
  json: JSON_OUTPUT,
} as const satisfies OptionTable

const addShow = (group: Command, allCommands: () => Promise<Command>): void => {
  addCommand(group, {
    name: 'show',
    summary: 'show every setting and where its value comes from',
    description:
      'Shows every setting with its value and where that comes from: an option, a variable, the file by line, or the ' +
      'default. With a command and its options it shows those of that command. Of secrets it says only whether they are set.',
    options: SHOW,
    run: (values) => runShow(values, allCommands),
    examples: [
      ['config show', 'all settings'],
      ['config show pull companies --currency SEK', 'what this command would work with'],
    ],
  }).allowUnknownOption()
}

/** The command that words name, and what is left of them. @throws {ToolkitError} USAGE */
const commandOf = (words: readonly string[], program: Command): readonly [Command, readonly string[]] => {
  let command = program
  const rest = [...words]
  for (;;) {
    const next = command.commands.find((one) => one.name() === rest[0])
    if (next === undefined) break
    rest.shift()
    command = next
  }
  if (command.parent !== null) return [command, rest]
  throw new ToolkitError('USAGE', `Cannot show the settings of "${words[0]}": there is no such command`)
}

const runShow = async (
  { words = [], json }: ValuesOf<typeof SHOW>,
  allCommands: () => Promise<Command>,
): Promise<void> => {
  const { shownOptions, shownSettings } = await import('../config/shown-settings.ts')
  const config = loadedConfig()
  const path = config.file?.path ?? null
  const settings =
    words.length === 0
      ? shownSettings(config)
      : await shownOptions(...commandOf(words, await allCommands()), config)
  if (json) return printJson({ file: path, settings })
  note(path === null ? 'There is no firmlake.toml here or above.' : `Settings of ${path}`)
  const from = { option: 'option', variable: 'variable ', file: '', default: 'default' } as const
  await printLines(
    textTable(
      [{ title: 'setting' }, { title: 'value' }, { title: 'from' }],
      settings.map((one) => [
        one.key,
        one.value === null ? '–' : typeof one.value === 'string' ? one.value : JSON.stringify(one.value),
        `${from[one.from]}${one.at ?? ''}`,
      ]),
    ),
  )
}
