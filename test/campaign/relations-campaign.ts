/**
 * Lines of relations that somebody broke: those that are refused are so with all lines around them kept, and those that
 * are taken become the rows that `JSON.parse` and the contract say. A case is a line.
 */

import { emptyControl } from '../../data/control.ts'
import { linesOf } from '../../data/sample.ts'
import { checkBlock } from '../../src/check/check-block.ts'
import { RecordChecker } from '../../src/check/record/check-record.ts'
import { newSeenSets } from '../../src/rows/seen-sets.ts'
import type { Campaign, CampaignOptions } from './campaign.ts'
import { changedLine, type LineChanges, memberFrom } from './changed-lines.ts'
import { expectedRows } from './expected-rows.ts'
import { madeRows } from './made-rows.ts'

const WHOLE_CASES = 300_000
const LINES_AT_ONCE = 100
/** Companies that lines are made of. */
const COMPANIES = 1500
/** Of ten lines one stays as it is. */
const CHANGED = 0.9
const MOST_WRONG = 20

const MEMBERS = [
  ...['"InternalId":-0,', '"InternalId":"9223372036854775807",', '"InternalId":1E2,', '"Name":null,'],
  ...['"Name":"\\u0050rotected Identity",', '"BirthDate":"Protected Identity",', '"Citizenships":[],'],
  ...['"Citizenships":["SE",null,"Protected Identity"],', '"CountryOfResidences":"Protected Identity",'],
  ...['"Addresses":[{"City":"\\u00e5","Foo":1},{}],', '"Addresses":[{"Street":"Protected Identity"}],'],
  ...['"IsProtected":false,', '"History":[],', '"History":[{"InternalId":1}],', '"Ownerships":[],'],
  ...[
    '"Ownerships":[{},{"MinVotes":-0}],',
    '"BeneficialOwnerships":[{"CaseNo":"c"}],',
    '"Foo":{"a":[1.50]},',
  ],
  ...['"KeyPersonRoles":[{"Id":1,"Text":""}],', '"UpdatedAt":"2020-02-30T00:00:00",', '"LegalForm":0,'],
  ...['"UpdatedAt":"2020-01-01 00:00:00.1234567+05:30",', '"InDate":"0001-01-01T00:00:00Z",'],
  ...['"InDate":"2024-02-29",', '"OutDate":"so on",', '"NumberOfVotes":"-0",', '"MinVotes":1e-400,'],
]
const CHANGES: LineChanges = {
  pieces: [
    ...'{}[]",:-+.0159eEZT \t\\\u0001',
    ...['null', 'true', '""', '{}', '[]', '\\u0041', ' , ', ' : ', '-0.0', '1e400', '12e-3', '"1.5"'],
    ...['123456789012345678901234567890', '0.30000000000000004', '9007199254740993'],
    ...MEMBERS,
    ...MEMBERS,
  ],
  focus: (line) => [0, line.length],
  inFocus: 0,
  copied: (line, at) => {
    const from = memberFrom(line, at)
    const to = line.indexOf(',"', from)
    return to < 0 ? '' : line.slice(from, to + 1)
  },
}

/** Checks blocks and compares the rows of each line that is taken. */
const runCases = ({ seed, cases, random, log }: CampaignOptions) => {
  const options = { companies: COMPANIES, seed, files: 1, small: false, awkward: 0.1 } as const
  const lines = [...linesOf('relations', { ...options, content: ['relations'] }, emptyControl())]
  const wrong: string[] = []
  const figures = { blocks: 0, accepted: 0, rejected: 0, rows: 0, reasons: 0 }
  const reasons = new Set<string>()
  const checker = new RecordChecker('relations', newSeenSets())
  for (let done = 0; done < cases && wrong.length < MOST_WRONG; done += LINES_AT_ONCE) {
    const strings = Array.from({ length: Math.min(LINES_AT_ONCE, cases - done) }, () => {
      const line = lines[Math.floor(random() * lines.length)] ?? ''
      return random() < CHANGED ? changedLine(line, random, CHANGES) : line
    })
    const bytes = Buffer.from(`${strings.join('\n')}\n`)
    const { parts, rejected } = checkBlock({ bytes, firstLine: 1, offset: 0, overlong: [] }, checker)
    const refused = new Set(rejected.map(({ line }) => line - 1))
    const taken = strings.filter((text, at) => !refused.has(at) && text.trim() !== '')
    const [rows] = parts.map((part) => part.rows)
    if (rows === undefined || rows.records.length !== taken.length)
      wrong.push(`lines from ${done} on: ${rows?.records.length ?? 0} records of ${taken.length}`)
    else
      for (const [record, line] of taken.entries()) {
        const [made, expected] = [madeRows(rows, record, bytes), expectedRows(line)]
        figures.rows += made.length
        const at = expected.findIndex((row, place) => row !== made[place])
        if (made.length !== expected.length || at >= 0)
          wrong.push(`lines from ${done} on: ${made[at]} in place of ${expected[at]}`.slice(0, 600))
      }
    figures.blocks++
    figures.accepted += taken.length
    figures.rejected += rejected.length
    for (const { code } of rejected) reasons.add(code)
    if (figures.blocks % 500 === 0) log(`${done + LINES_AT_ONCE} of ${cases} lines, ${wrong.length} wrong`)
  }
  figures.reasons = reasons.size
  return { cases, wrong, figures }
}

export const campaign: Campaign = {
  about: 'every relations line that is taken becomes the rows that JSON.parse and the contract say',
  wholeCases: WHOLE_CASES,
  run: async (options) => runCases(options),
}
