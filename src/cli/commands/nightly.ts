/** `nightly`: the nightly steps of firmlake.toml or of the environment. */

import type { Command } from 'commander'
import { EXIT } from '../../core/exit-codes.ts'
import type { NightPart } from '../../jobs/nightly/night-parts.ts'
import { loadedConfig } from '../config/loaded-config.ts'
import { withExamples } from '../help.ts'
import { type JsonOption, jsonOption } from '../options/options.ts'
import { adoptOption } from '../options/run-options.ts'
import { note, printLines } from '../output/print.ts'
import { colourOfStatus, textTable } from '../output/text-table.ts'

interface NightOptions extends JsonOption {
  readonly text?: true
  readonly adopt?: true
}

export const addNightly = (program: Command): void => {
  const command = program
    .command('nightly')
    .summary('run the nightly steps of firmlake.toml, for a scheduler')
    .description(
      'Pulls, syncs and loads files in one commit, none where nothing came; then publishes, delivers, compacts, deletes by ' +
        'age, checks and reports, as far as firmlake.toml has sections for it (docs/nightly.md). Without a file settings are ' +
        'environment variables: FIRMLAKE_URL, FIRMLAKE_TOKEN or FIRMLAKE_TOKEN_FILE, FIRMLAKE_LAKE, FIRMLAKE_SEARCH and ' +
        'others. Prints one line of JSON, on a terminal a table of the parts; an interrupted night is resumed when it is ' +
        'started again.',
    )
    .option('--text', 'a table of the parts, also where standard output is no terminal')
    .addOption(adoptOption())
    .addOption(jsonOption('one line of JSON, also on a terminal').conflicts('text'))
    .action(runNightly)
  withExamples(command, [
    ['nightly >> firmlake.jsonl', 'from cron, in the folder of firmlake.toml'],
    ['nightly --config /etc/firmlake.toml --text', 'with another file, for people'],
  ])
}

interface NightSummary {
  readonly outcome?: string
  readonly parts?: readonly NightPart[]
  readonly error?: { readonly code: string; readonly message: string }
  readonly seconds?: number
}

const textOf = ({ outcome, parts = [], error, seconds }: NightSummary): readonly string[] => [
  ...textTable(
    [
      ...['part', 'kind'].map((title) => ({ title })),
      { title: 'state', colour: colourOfStatus },
      ...['snapshot', 'records'].map((title) => ({ title, right: true })),
      { title: 'reason' },
    ],
    parts.map(({ name, kind, state, snapshot, records, code, reason = '' }) => [
      ...[name, kind, state, String(snapshot ?? ''), String(records ?? '')],
      code === undefined ? reason : `${code}: ${reason}`,
    ]),
  ),
  `The night is ${outcome ?? 'failed'} after ${seconds ?? 0} s${error ? `: ${error.code}: ${error.message}` : '.'}`,
]

const runNightly = async ({ json, text, adopt }: NightOptions): Promise<void> => {
  const { nightly } = await import('../../jobs/nightly/nightly.ts')
  const { isSameLake, otherLakeText } = await import('../../jobs/common/same-lake.ts')
  const { runProgram } = await import('../../jobs/common/run-program.ts')
  const { file } = loadedConfig()
  const settings = file?.settings
  const lake = process.env.FIRMLAKE_LAKE
  if (file !== undefined && settings?.lake !== undefined && lake && !(await isSameLake(settings.lake, lake)))
    note(otherLakeText(file.path, settings.lake, lake))
  const isText = text ?? (!json && process.stdout.isTTY)
  let isPartial = false
  await runProgram(
    (program) => nightly({ ...program, env: process.env, settings, adopt }),
    (summary: NightSummary & { readonly excluded?: unknown }) => {
      isPartial = summary.excluded !== undefined
      if (isText) void printLines(textOf(summary))
      else console.log(JSON.stringify(summary))
    },
  )
  if (isPartial) process.exitCode ??= EXIT.excluded
}
