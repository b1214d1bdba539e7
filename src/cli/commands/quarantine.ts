/**
 * `quarantine list` and `quarantine replay`: lines that could not be loaded, listed and loaded again. Their text may hold personal data
 * and is shown only on request.
 */

import type { Command } from 'commander'
import { REJECT_CODES } from '../../core/lines.ts'
import type { ReplayReport } from '../../jobs/replay.ts'
import type { QuarantinedLine } from '../../kinds/quarantine.ts'
import { LAKE, SNAPSHOT } from '../../options/common.ts'
import { askedOf, type OptionTable, option, type ValuesOf, withDefault } from '../../options/entry.ts'
import { REPLAY } from '../../options/resume.ts'
import { choiceOf, plainText, trueOrFalse, whole } from '../../options/value-types.ts'
import { formatCount } from '../../support/format.ts'
import { addCommand } from '../add-command.ts'
import { note, printJson, printLines } from '../output/print.ts'
import { textTable } from '../output/text-table.ts'
import { watchRun } from '../output/watch-run.ts'
import { printReport, runJob } from '../run-job.ts'

/** Lines listed by default: enough to see what is wrong. */
const MOST_LISTED = 1000

const LIST = {
  lake: LAKE,
  snapshot: option(SNAPSHOT.type, SNAPSHOT.about, { otherwise: SNAPSHOT.otherwise, conflicts: 'run' }),
  run: option(plainText('<run>'), 'lines of this run, also of one that was refused and is not finished'),
  code: option(choiceOf('<code>', ...Object.keys(REJECT_CODES)), 'only lines with this reason'),
  limit: withDefault(whole(), 'most lines to list', String(MOST_LISTED)),
  raw: option(trueOrFalse, 'the text of each line too'),
  json: option(trueOrFalse, 'one JSON array of objects, errors as one line of JSON'),
} as const satisfies OptionTable

export const addQuarantine = (program: Command): void => {
  const group = program
    .command('quarantine')
    .summary('show quarantined lines, and load them again')
    .description(
      'Bad lines go to the quarantine instead of the tables, with source, line, offset and reason.',
    )
  addList(group)
  addReplay(group)
}

const addList = (group: Command): void => {
  addCommand(group, {
    name: 'list',
    summary: 'show quarantined lines',
    description:
      'Lists the lines of the quarantine with source, line number, byte offset, reason code and reason. Their ' +
      'text may hold personal data, so it is printed only with --raw.',
    options: LIST,
    run: runList,
    examples: [
      ['quarantine list --lake ./lake', 'what is in the quarantine'],
      ['quarantine list --lake ./lake --code SCALE_UNKNOWN --raw --json', 'lines with one reason, whole'],
    ],
  })
}

const runList = async (values: ValuesOf<typeof LIST>): Promise<void> => {
  const { raw = false, json, code, limit, ...choice } = values
  const { listQuarantine, quarantineFiles } = await import('../../kinds/quarantine.ts')
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

const addReplay = (group: Command): void => {
  addCommand(group, {
    name: 'replay',
    summary: 'load quarantined lines again',
    description:
      'Loads the lines of the quarantine again, after a newer firmlake or with other limits, all in one commit. ' +
      'What is still bad stays in the quarantine.',
    options: REPLAY,
    run: runReplay,
    examples: [
      ['quarantine replay --lake ./lake', 'after an update of firmlake'],
      ["quarantine replay --lake ./lake --source '*-0007.jsonl.br' --max-depth 512", 'with another limit'],
    ],
  })
}

const runReplay = async (values: ValuesOf<typeof REPLAY>): Promise<void> => {
  const { lake, json } = values
  const { replay } = await import('../../jobs/replay.ts')
  await runJob<ReplayReport>(
    values,
    (given, line) => replay({ ...askedOf(REPLAY, values), ...given, onEvent: watchRun(line) }),
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
