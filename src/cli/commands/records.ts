/** `records`: restores the current records as JSON Lines. */

import type { Command } from 'commander'
import { askedOf, type ValuesOf } from '../../options/entry.ts'
import { RECORDS } from '../../options/read-jobs.ts'
import { JSON_BYTES, membersAt } from '../../support/json-bytes.ts'
import { addCommand } from '../add-command.ts'
import { noteAccess, noteTaken } from '../output/lake-notes.ts'
import { note, printBytes } from '../output/print.ts'
import { ProgressLine } from '../output/progress-line.ts'
import { showFetch } from '../output/show-fetch.ts'

type Values = ValuesOf<typeof RECORDS>

export const addRecords = (program: Command): void => {
  addCommand(program, {
    name: 'records',
    summary: 'restore the current records as JSON Lines',
    description:
      'Prints the current version of every record, equal as JSON data to what came in. What the contract says ' +
      'is omitted (null, an empty object, a default date) is left out.',
    options: RECORDS,
    run: runRecords,
    examples: [
      ['records --lake ./lake --content companies > companies.jsonl', 'all companies'],
      ['records --lake ./lake --id 100023,100045', 'companies and relations of two ids'],
    ],
  })
}

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
  { all, content }: Values,
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

const runRecords = async (values: Values): Promise<void> => {
  const { lake, ids, snapshot } = values
  const found = new Set<bigint>()
  const { recordLines } = await import('../../jobs/records.ts')
  const line = new ProgressLine({ terminalOnly: true })
  for await (const lines of recordLines({
    ...askedOf(RECORDS, values),
    onFetch: showFetch(line),
    onRead: noteAccess,
  })) {
    line.clear()
    if (ids !== undefined) for (const id of idsIn(lines)) found.add(id)
    await printBytes(lines)
  }
  if (ids !== undefined) noteUnknown(ids, found, values)
  await noteTaken(lake, { snapshot })
}
