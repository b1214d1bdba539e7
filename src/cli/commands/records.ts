/** `records`: restores the current records as JSON Lines. */

import type { Command } from 'commander'
import type { Content } from '../../contract/objects.ts'
import { ToolkitError } from '../../core/errors.ts'
import { JSON_BYTES, membersAt } from '../../support/json-bytes.ts'
import { withExamples } from '../help.ts'
import {
  type CheckedFlag,
  checkedOption,
  contentOption,
  jsonOption,
  type LakeOption,
  lakeOption,
  type SnapshotOption,
  snapshotOption,
} from '../options/options.ts'
import { memoryOption, threadsOption } from '../options/run-options.ts'
import { noteAccess, noteTaken } from '../output/lake-notes.ts'
import { note, printBytes } from '../output/print.ts'
import { ProgressLine } from '../output/progress-line.ts'
import { showFetch } from '../output/show-fetch.ts'

interface RecordsOptions extends LakeOption, SnapshotOption, CheckedFlag {
  readonly content?: Content
  readonly id?: readonly bigint[]
  readonly all?: true
  readonly memory: number
  readonly threads: number
}

export const addRecords = (program: Command): void => {
  const command = program
    .command('records')
    .summary('restore the current records as JSON Lines')
    .description(
      'Prints the current version of every record, equal as JSON data to what came in. What the contract says ' +
        'is omitted (null, an empty object, a default date) is left out.',
    )
    .addOption(lakeOption())
    .addOption(contentOption('only these (default: companies, then relations)'))
    .option('--id <n,...>', 'only the records of these companies', parseIds)
    .option('--all', 'companies that the service does not list any more too')
    .addOption(snapshotOption())
    .addOption(memoryOption())
    .addOption(threadsOption())
    .addOption(checkedOption())
    .addOption(jsonOption('errors as one line of JSON; records are JSON in any case'))
    .action(runRecords)
  withExamples(command, [
    ['records --lake ./lake --content companies > companies.jsonl', 'all companies'],
    ['records --lake ./lake --id 100023,100045', 'companies and relations of two ids'],
  ])
}

/** Ids have up to 64 bits, more than a number holds. */
const parseIds = (list: string): readonly bigint[] =>
  list.split(',').map((id) => {
    if (/^-?\d{1,19}$/.test(id.trim())) return BigInt(id)
    throw new ToolkitError(
      'USAGE',
      `Cannot read --id "${list}": expected whole numbers such as 100023,100045`,
    )
  })

/** The ids of the records in whole lines. */
const idsIn = (lines: Buffer): readonly bigint[] => {
  const ids: bigint[] = []
  for (let from = 0; from < lines.length; from = lines.indexOf(JSON_BYTES.LINE_FEED, from) + 1) {
    const record = membersAt(lines, from)
    const basics = record.find(({ name }) => name === 'BasicDetails')
    for (const { name, valueFrom, to } of basics ? membersAt(lines, basics.valueFrom) : record)
      if (name === 'InternalId') ids.push(BigInt(lines.toString('latin1', valueFrom, to)))
  }
  return ids
}

/** Warns of ids that no record has. */
const noteUnknown = (
  asked: readonly bigint[],
  found: ReadonlySet<bigint>,
  { all, content }: RecordsOptions,
): void => {
  const unknown = [...new Set(asked)].filter((id) => !found.has(id))
  if (unknown.length === 0) return
  const more =
    all || content === 'relations'
      ? ''
      : '; --all also gives companies that the service does not list any more'
  note(
    `warning: the lake has no record of ${unknown.join(', ')} in ${content ?? 'companies or relations'}${more}`,
  )
}

const runRecords = async (given: RecordsOptions): Promise<void> => {
  const { id: ids, memory: memoryBytes, ...options } = given
  const found = new Set<bigint>()
  const { recordLines } = await import('../../jobs/records/records.ts')
  const line = new ProgressLine({ terminalOnly: true })
  for await (const lines of recordLines({
    ...options,
    ids,
    memoryBytes,
    onFetch: showFetch(line),
    onRead: noteAccess,
  })) {
    line.clear()
    if (ids !== undefined) for (const id of idsIn(lines)) found.add(id)
    await printBytes(lines)
  }
  if (ids !== undefined) noteUnknown(ids, found, given)
  await noteTaken(options.lake, options.snapshot)
}
