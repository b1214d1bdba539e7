/** `quarantine` and its `list`: lines that could not be loaded. */

import { type Command, Option } from 'commander'
import { REJECT_CODES } from '../../core/lines.ts'
import type { QuarantinedLine } from '../../jobs/replay/quarantine.ts'
import {
  type JsonOption,
  jsonOption,
  type LakeOption,
  lakeOption,
  type SnapshotOption,
  snapshotOption,
  wholeNumber,
  withExamples,
} from '../options/options.ts'
import { note, printJson, printLines } from '../output/print.ts'
import { addReplay } from './quarantine-replay.ts'

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
    .summary('show quarantined lines, or load them again')
    .description(
      'Bad lines go to the quarantine instead of the tables, with source, line, offset and reason.',
    )
  addList(group)
  addReplay(group)
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
  const { listQuarantine } = await import('../../jobs/replay/quarantine.ts')
  const { quarantineFiles } = await import('../../jobs/replay/quarantine-files.ts')
  const { byCodeText, lineObject, quarantineTable } = await import('../output/quarantine-output.ts')
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
  if (shown.length === 0) return printLines(['The quarantine holds no such line.'])
  await printLines(quarantineTable(shown, raw))
  note(`In all: ${byCodeText(counts)}`)
  if (!raw) note('The text of the lines may hold personal data: --raw prints it.')
}
