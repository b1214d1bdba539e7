/**
 * `quarantine list` and `replay`: lines that could not be loaded, listed and loaded again. Their text may hold personal data
 * and is shown only on request.
 */

import { type Command, Option } from 'commander'
import { DEFAULT_MAX_DEPTH } from '../../check/drift/check-options.ts'
import { DECODE_LIMITS } from '../../core/decode-limits.ts'
import { REJECT_CODES } from '../../core/lines.ts'
import type { QuarantinedLine } from '../../jobs/replay/quarantine.ts'
import type { ReplayReport } from '../../jobs/replay/replay.ts'
import { formatCount } from '../../support/format.ts'
import { withExamples } from '../help.ts'
import {
  type JsonOption,
  jsonOption,
  type LakeOption,
  lakeOption,
  type SnapshotOption,
  snapshotOption,
  wholeNumber,
} from '../options/options.ts'
import {
  bytesOption,
  changeCurrencyOption,
  memoryOption,
  type TargetFlags,
  targetOptions,
  threadsOption,
  type UnknownOptions,
  unknownOptions,
} from '../options/run-options.ts'
import { note, printJson, printLines } from '../output/print.ts'
import { textTable } from '../output/text-table.ts'
import { watchRun } from '../output/watch-run.ts'
import { printReport, runJob } from '../run-job.ts'

interface ListOptions extends LakeOption, JsonOption, SnapshotOption {
  readonly run?: string
  readonly code?: string
  readonly limit: number
  readonly raw?: boolean
}

/** Lines listed by default: enough to see what is wrong. */
const MOST_LISTED = 1000

export const addQuarantine = (program: Command): void => {
  const group = program
    .command('quarantine')
    .summary('show quarantined lines')
    .description(
      'Bad lines go to the quarantine instead of the tables, with source, line, offset and reason.',
    )
  addList(group)
}

const addList = (group: Command): void => {
  const command = group
    .command('list')
    .summary('show quarantined lines')
    .description(
      'Lists the lines of the quarantine with source, line number, byte offset, reason code and reason. Their ' +
        'text may hold personal data, so it is printed only with --raw.',
    )
    .addOption(lakeOption())
    .addOption(snapshotOption().conflicts('run'))
    .option('--run <run>', 'lines of this run, also of one that was refused and is not finished')
    .addOption(new Option('--code <code>', 'only lines with this reason').choices(Object.keys(REJECT_CODES)))
    .option('--limit <n>', 'most lines to list', wholeNumber('--limit'), MOST_LISTED)
    .option('--raw', 'the text of each line too')
    .addOption(jsonOption('one JSON array of objects, errors as one line of JSON'))
    .action(runList)
  withExamples(command, [
    ['quarantine list --lake ./lake', 'what is in the quarantine'],
    ['quarantine list --lake ./lake --code SCALE_UNKNOWN --raw --json', 'lines with one reason, whole'],
  ])
}

const runList = async ({ raw = false, json, code, limit, ...choice }: ListOptions): Promise<void> => {
  const { listQuarantine, quarantineFiles } = await import('../../jobs/replay/quarantine.ts')
  const shown: QuarantinedLine[] = []
  const counts = new Map<string, number>()
  for await (const lines of listQuarantine(await quarantineFiles(choice))) {
    for (const line of lines) {
      if (code !== undefined && line.code !== code) continue
      counts.set(line.code, (counts.get(line.code) ?? 0) + 1)
      if (shown.length < limit) shown.push(line)
    }
  }
  if (json) return printJson(shown.map((line) => lineObject(line, raw)))
  const isAll = code === undefined && choice.run === undefined
  if (shown.length === 0)
    return printLines([isAll ? 'The quarantine is empty.' : 'The quarantine holds no such line.'])
  await printLines(quarantineTable(shown, raw))
  note(`In all: ${byCodeText(counts)}`)
  if (!raw) note('The text of the lines may hold personal data: --raw prints it.')
}

interface ReplayFlags extends LakeOption, JsonOption, TargetFlags, UnknownOptions {
  readonly source?: readonly string[]
  readonly maxLineBytes: number
  readonly maxDepth: number
  readonly memory: number
  readonly threads: number
  readonly changeCurrency?: true
}

export const addReplay = (program: Command): void => {
  const command = program
    .command('replay')
    .summary('load quarantined lines again')
    .description(
      'Loads the lines of the quarantine again, after a newer firmlake or with other limits, all in one commit. ' +
        'What is still bad stays in the quarantine.',
    )
    .addOption(lakeOption())
    .option('--source <pattern...>', 'only lines of these sources; * stands for any text')
    .addOption(bytesOption('--max-line-bytes <bytes>', 'longest line', DECODE_LIMITS.maxLineBytes, '16MiB'))
    .option('--max-depth <n>', 'deepest nesting of a record', wholeNumber('--max-depth'), DEFAULT_MAX_DEPTH)
    .addOption(memoryOption())
    .addOption(threadsOption())
    .addOption(changeCurrencyOption())
  for (const option of [...unknownOptions(), ...targetOptions()]) command.addOption(option)
  command.addOption(jsonOption()).action(runReplay)
  withExamples(command, [
    ['replay --lake ./lake', 'after an update of firmlake'],
    ["replay --lake ./lake --source '*-0007.jsonl.br' --max-depth 512", 'with another limit'],
  ])
}

const runReplay = async (flags: ReplayFlags): Promise<void> => {
  const { source: sources, maxLineBytes, maxDepth, maxUnknownPerRecord, maxUnknownNames } = flags
  const { lake, json, changeCurrency } = flags
  const own = { sources, maxLineBytes, maxDepth, maxUnknownPerRecord, maxUnknownNames, changeCurrency }
  const { replay } = await import('../../jobs/replay/replay.ts')
  await runJob<ReplayReport>(
    flags,
    (options, line) => replay({ ...options, ...own, onEvent: watchRun(line) }),
    async ({ run, ...report }) => {
      if (json) await printJson({ lake, snapshot: null, ...(run !== null && { run, ...report }) })
      else if (run === null) await printLines(['Nothing to replay: no such line is in the quarantine.'])
      else if (report.snapshot === null)
        await printLines(['No line could be loaded: the quarantine stays as it is.'])
      else await printReport({ run, ...report }, { lake })
    },
  )
}

/** A line as programs get it. */
const lineObject = (line: QuarantinedLine, withRaw: boolean): object => {
  const { raw, raw_base64, ...visible } = line
  return withRaw ? line : visible
}

/** The text of a line; one that is no UTF-8 in Base64. */
const rawText = ({ raw, raw_base64 }: QuarantinedLine): string => raw ?? `base64:${raw_base64 ?? ''}`

const quarantineTable = (lines: readonly QuarantinedLine[], withRaw: boolean): string[] =>
  textTable(
    [
      { title: 'source' },
      { title: 'line', right: true },
      { title: 'offset', right: true },
      { title: 'bytes', right: true },
      { title: 'code' },
      { title: 'reason' },
      ...(withRaw ? [{ title: 'raw' }] : []),
    ],
    lines.map((one) => [
      one.source,
      String(one.line),
      String(one.byte_offset),
      String(one.size_bytes),
      one.code,
      one.reason,
      ...(withRaw ? [rawText(one)] : []),
    ]),
  )

/** Lines by reason code, the most frequent first: `3 NOT_JSON, 1 TOO_DEEP`. */
const byCodeText = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([code, count]) => `${formatCount(count)} ${code}`)
    .join(', ')
