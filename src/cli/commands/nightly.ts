/** `nightly`: the nightly steps of firmlake.toml or of the environment. */

import type { Command } from 'commander'
import { EXIT } from '../../core/exit-codes.ts'
import type { NightPart } from '../../nightly/night-parts.ts'
import type { NightEvent } from '../../nightly/nightly.ts'
import type { ValuesOf } from '../../options/entry.ts'
import { NIGHTLY } from '../../options/nightly.ts'
import type { WouldChange } from '../../run/run-report.ts'
import { formatCount, formatCounted, formatDuration } from '../../support/format.ts'
import { addCommand } from '../add-command.ts'
import { loadedConfig } from '../config/loaded-config.ts'
import { diffSummaryLines } from '../output/diff-lines.ts'
import { note, print, printLines } from '../output/print.ts'
import { colourOfStatus, textTable } from '../output/text-table.ts'

export const addNightly = (program: Command): void => {
  addCommand(program, {
    name: 'nightly',
    summary: 'run the nightly steps of firmlake.toml, for a scheduler',
    description:
      'Pulls, syncs and loads files in one commit, none where nothing came; then publishes, delivers, compacts, deletes by ' +
      'age, checks and reports, as far as firmlake.toml has sections for it (docs/nightly.md). Without a file settings are ' +
      'environment variables: FIRMLAKE_URL, FIRMLAKE_TOKEN or FIRMLAKE_TOKEN_FILE, FIRMLAKE_LAKE, FIRMLAKE_SEARCH and ' +
      'others. Prints one line of JSON, on a terminal a table of the parts; an interrupted night is resumed when it is ' +
      'started again.',
    options: NIGHTLY,
    run: runNightly,
    examples: [
      ['nightly >> firmlake.jsonl', 'from cron, in the folder of firmlake.toml'],
      ['nightly --config /etc/firmlake.toml --text', 'with another file, for people'],
    ],
  })
}

const ENDED = {
  done: 'is done',
  partial: 'is done in part',
  later: 'ended early',
  stopped: 'was interrupted',
  failed: 'failed',
} as const

interface NightSummary {
  readonly dryRun?: WouldChange
  readonly outcome?: keyof typeof ENDED
  readonly parts?: readonly NightPart[]
  readonly error?: { readonly code: string; readonly message: string }
  readonly seconds?: number
}

/** A part that it is of has said it already. */
const errorText = (
  { code, message }: NonNullable<NightSummary['error']>,
  parts: readonly NightPart[],
): string => (parts.some(({ reason }) => reason === message) ? `: ${code}` : `: ${code}: ${message}`)

const textOf = ({ outcome, parts = [], error, seconds, dryRun }: NightSummary): readonly string[] => [
  ...textTable(
    [
      ...['part', 'kind'].map((title) => ({ title })),
      { title: 'state', colour: colourOfStatus },
      ...['snapshot', 'records'].map((title) => ({ title, right: true })),
      { title: 'reason' },
    ],
    parts.map(({ name, kind, state, snapshot, records, code, reason = '' }) => [
      ...[name, kind, state, String(snapshot ?? ''), records === undefined ? '' : formatCount(records)],
      code === undefined ? reason : `${code}: ${reason}`,
    ]),
  ),
  ...(dryRun?.changes ? diffSummaryLines(dryRun.changes) : []),
  `The night ${ENDED[outcome ?? 'failed']} after ${formatDuration(seconds ?? 0)}${error ? errorText(error, parts) : '.'}`,
]

/** A line where a part begins and one where it has ended, for who watches and for the log. */
const tellParts = (): ((event: NightEvent) => void) => {
  const begun = new Map<string, number>()
  return (event) => {
    if (event.kind === 'begins') {
      begun.set(event.name, performance.now())
      note(`${event.name} begins`)
      return
    }
    const { name, state, snapshot, records, code, reason } = event.part
    const startMs = begun.get(name)
    const time = startMs === undefined ? '' : ` after ${formatDuration((performance.now() - startMs) / 1000)}`
    const facts = [
      ...(records === undefined ? [] : [formatCounted(records, 'record')]),
      ...(snapshot ? [`snapshot ${snapshot}`] : []),
      ...(code === undefined ? [] : [code]),
      ...(reason === undefined ? [] : [reason]),
    ]
    note(`${name} ${state}${time}${facts.length > 0 ? `: ${facts.join(', ')}` : ''}`)
  }
}

let failed: readonly NightPart[] = []
/** The parts of this process's night that failed. */
export const failedParts = (): readonly NightPart[] => failed

const runNightly = async (values: ValuesOf<typeof NIGHTLY>): Promise<void> => {
  const { json, text, adopt, overwrite, dryRun, offline } = values
  const { nightly } = await import('../../nightly/nightly.ts')
  const { isSameLake, otherLakeText } = await import('../../jobs/same-lake.ts')
  const { runProgram } = await import('../../jobs/run-program.ts')
  failed = []
  const { file } = loadedConfig()
  const settings = file?.settings
  const lake = process.env.FIRMLAKE_LAKE
  if (file !== undefined && settings?.lake !== undefined && lake && !(await isSameLake(settings.lake, lake)))
    note(otherLakeText(file.path, settings.lake, lake))
  if (dryRun && !offline) note('Dry run: it costs what the loads cost, and changes nothing')
  const isText = text ?? (!json && process.stdout.isTTY)
  let isPartial = false
  await runProgram(
    (program) =>
      nightly({
        ...{ ...program, env: process.env, settings, adopt, overwrite, dryRun, offline },
        onPart: json ? undefined : tellParts(),
        onWarning: (text) => note(`warning: ${text}`),
      }),
    (summary: NightSummary & { readonly excluded?: unknown }) => {
      isPartial = summary.excluded !== undefined
      failed = summary.parts?.filter(({ state }) => state === 'failed') ?? []
      void (isText ? printLines(textOf(summary)) : print(`${JSON.stringify(summary)}\n`))
    },
  )
  if (isPartial) process.exitCode ??= EXIT.excluded
}
