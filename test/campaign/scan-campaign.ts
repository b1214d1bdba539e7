/**
 * Lines of companies that somebody broke are checked twice: by the quick way through figures, and by the careful one
 * alone. Verdict, reason, place, drift and every row must be the same. A case is a line.
 */

import { emptyControl } from '../../data/control.ts'
import { linesOf } from '../../data/sample.ts'
import { type CheckedBlock, checkBlock } from '../../src/check/check-block.ts'
import { RecordChecker } from '../../src/check/record/check-record.ts'
import type { BlockRows } from '../../src/rows/block-rows.ts'
import type { GrowingColumns } from '../../src/rows/growing-columns.ts'
import { newSeenSets } from '../../src/rows/seen-sets.ts'
import type { SeriesRows } from '../../src/rows/series-rows.ts'
import type { Campaign, CampaignOptions } from './campaign.ts'
import { changedLine, type LineChanges, memberFrom } from './changed-lines.ts'

const WHOLE_CASES = 1_000_000
const LINES_AT_ONCE = 200
/** Companies that lines are made of. */
const COMPANIES = 1500
/** Of ten lines one stays as it is. */
const CHANGED = 0.9
/** Of ten changes seven are made among figures. */
const AMONG_FIGURES = 0.7
const MOST_WRONG = 20

const PIECES = [
  ...'{}[]",:-+.0159eE \t\\\u0001',
  ...['null', 'true', 'NaN', '""', '{}', '\\u0041', '\\u0032', '"EBIT":{},', '"2020":1,', '"2020":null,'],
  ...['-0', '-0.0', '00', '1e400', '1e299', '1E5', '12e-3', '9007199254740991', '9007199254740993'],
  ...['123456789012345678901234567890', '0.30000000000000004', '0.00000000000000000000001', '9'.repeat(310)],
  ...[
    '"BalanceSheet":{},',
    '"NewSheet":{"NewItem":{"2020":1}},',
    '"2019":1,"2018":2,',
    '"17":',
    ' , ',
    ' : ',
  ],
]

/** The figures of a line, where it has any. */
const figuresIn = (line: string): readonly [from: number, to: number] => {
  const from = line.indexOf('inancials":')
  return from < 0 ? [0, line.length] : [from, Math.max(line.indexOf('"MetaData"', from), from + 1)]
}

/** A time series or more with its key, to stand a second time, or in another category. */
const seriesFrom = (text: string, at: number): string => {
  const from = memberFrom(text, text.indexOf('}', at))
  const to = text.indexOf('},"', from)
  return to < 0 ? '' : text.slice(from, to + 2)
}

const CHANGES: LineChanges = {
  pieces: PIECES,
  focus: figuresIn,
  inFocus: AMONG_FIGURES,
  copied: seriesFrom,
}

const sameItems = (a: ArrayLike<unknown>, b: ArrayLike<unknown>, items: number): boolean => {
  for (let at = 0; at < items; at++) if (!Object.is(a[at], b[at])) return false
  return true
}

/** Which columns of two tables differ, in name and every bit. */
const unlikeTable = (a: GrowingColumns, b: GrowingColumns, name: string): string[] => {
  if (a.length !== b.length) return [`${name} rows`]
  return Object.entries(a.columns).flatMap(([column, values]) => {
    const others = b.columns[column]
    const isSame = others !== undefined && sameItems(values, others, a.length)
    return isSame ? [] : [`${name} ${column}`]
  })
}

const unlikeSeries = (a: SeriesRows, b: SeriesRows, name: string): string[] => [
  ...unlikeTable(a.figures, b.figures, `${name}:`),
  ...unlikeTable(a.series, b.series, `${name}: series'`),
  ...unlikeTable(a.kept, b.kept, `${name}: kept`),
]

const unlikeRows = (a: BlockRows | undefined, b: BlockRows | undefined): string[] => {
  if (a === undefined || b === undefined) return a === b ? [] : ['records']
  return [
    ...unlikeSeries(a.figures, b.figures, 'figures'),
    ...unlikeSeries(a.headcounts, b.headcounts, 'headcounts'),
    ...unlikeTable(a.records, b.records, 'record'),
    ...unlikeTable(a.objects.records.rows, b.objects.records.rows, 'row'),
    ...unlikeTable(a.objects.records.cells, b.objects.records.cells, 'cell'),
    ...(JSON.stringify([...a.extras]) === JSON.stringify([...b.extras]) ? [] : ['extra']),
  ]
}

/** What two checks of a block say otherwise. */
const unlike = (quick: CheckedBlock, careful: CheckedBlock): string[] => {
  const verdictsOf = ({ parts, rejected, lines, drift, unknownItems }: CheckedBlock): readonly unknown[] => [
    ...rejected.map(({ line, offset, sizeBytes, code, reason }) => [line, offset, sizeBytes, code, reason]),
    [lines, drift, unknownItems, parts.map(({ members }) => members)],
  ]
  const expected = verdictsOf(careful).map((verdict) => JSON.stringify(verdict))
  const found = verdictsOf(quick).map((verdict) => JSON.stringify(verdict))
  const at = found.findIndex((verdict, place) => verdict !== expected[place])
  if (at >= 0) return [`verdict ${found[at]} in place of ${expected[at]}`.slice(0, 500)]
  return unlikeRows(quick.parts[0]?.rows, careful.parts[0]?.rows)
}

/** Checks blocks by both ways, each with a set of names that lasts for some blocks. */
const runCases = ({ seed, cases, random, log }: CampaignOptions) => {
  const options = { companies: COMPANIES, seed, files: 1, small: true, awkward: 0.1 } as const
  const lines = [...linesOf('companies', { ...options, content: ['companies'] }, emptyControl())]
  const wrong: string[] = []
  const figures = { blocks: 0, accepted: 0, rejected: 0, figures: 0, reasons: 0 }
  const reasons = new Set<string>()
  let quick = new RecordChecker('companies', newSeenSets())
  let careful = new RecordChecker('companies', newSeenSets(), { isCareful: true })
  for (let done = 0; done < cases && wrong.length < MOST_WRONG; done += LINES_AT_ONCE) {
    if (figures.blocks % 50 === 0) {
      quick = new RecordChecker('companies', newSeenSets())
      careful = new RecordChecker('companies', newSeenSets(), { isCareful: true })
    }
    const strings = Array.from({ length: Math.min(LINES_AT_ONCE, cases - done) }, () => {
      const line = lines[Math.floor(random() * lines.length)] ?? ''
      return random() < CHANGED ? changedLine(line, random, CHANGES) : line
    })
    const bytes = Buffer.from(`${strings.join('\n')}\n`)
    const block = { bytes, firstLine: 1, offset: 0, overlong: [] }
    const checked = checkBlock(block, quick)
    const unlikes = unlike(checked, checkBlock(block, careful))
    if (unlikes.length > 0) wrong.push(`lines from ${done} on: ${unlikes.join(', ')}`)
    figures.blocks++
    figures.rejected += checked.rejected.length
    figures.accepted += checked.lines - checked.rejected.length
    figures.figures += checked.parts[0]?.rows.figures.figures.length ?? 0
    for (const { code } of checked.rejected) reasons.add(code)
    if (figures.blocks % 500 === 0) log(`${done + LINES_AT_ONCE} of ${cases} lines, ${wrong.length} wrong`)
  }
  figures.reasons = reasons.size
  return { cases, wrong, figures }
}

export const campaign: Campaign = {
  about:
    'the quick way through figures says of every line what the careful one says, and makes the same rows',
  wholeCases: WHOLE_CASES,
  run: async (options) => runCases(options),
}
