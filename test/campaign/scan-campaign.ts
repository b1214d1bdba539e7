/**
 * Lines of companies that somebody broke are checked twice: by the quick way through figures, and by the careful one
 * alone. Verdict, reason, place, drift and every row must be the same. A case is a line.
 */

import { emptyControl } from '../../data/control.ts'
import { linesOf } from '../../data/sample.ts'
import { type CheckedBlock, checkBlock } from '../../src/check/check-block.ts'
import { RecordChecker } from '../../src/check/record/check-record.ts'
import type { BlockRows } from '../../src/rows/block-rows.ts'
import type { RowCells } from '../../src/rows/row-cells.ts'
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

const sameBits = (a: Float64Array, b: Float64Array, items: number): boolean => {
  for (let at = 0; at < items; at++) if (!Object.is(a[at], b[at])) return false
  return true
}
const sameNumbers = (a: ArrayLike<number>, b: ArrayLike<number>, items: number): boolean => {
  for (let at = 0; at < items; at++) if (a[at] !== b[at]) return false
  return true
}

/** Which columns of two blocks' figures differ. */
const unlikeSeries = (a: SeriesRows, b: SeriesRows): string[] => {
  if (a.rows !== b.rows || a.series !== b.series || a.kept !== b.kept) return ['rows']
  const { rows, series, kept } = a
  return [
    ...(sameNumbers(a.year, b.year, rows) ? [] : ['year']),
    ...(sameBits(a.value, b.value, rows) ? [] : ['value']),
    ...(sameNumbers(a.end, b.end, series) ? [] : ['end']),
    ...(sameNumbers(a.statement, b.statement, series) ? [] : ['statement']),
    ...(sameNumbers(a.category, b.category, series) ? [] : ['category']),
    ...(sameNumbers(a.lineItem, b.lineItem, series) ? [] : ['line item']),
    ...(sameNumbers(a.keptRow, b.keptRow, kept) ? [] : ['kept row']),
    ...(sameBits(a.keptFigure, b.keptFigure, kept) ? [] : ['kept figure']),
  ]
}

const unlikeCells = (a: RowCells, b: RowCells): string[] =>
  a.cells === b.cells &&
  sameNumbers(a.behind, b.behind, a.rows) &&
  sameNumbers(a.column, b.column, a.cells) &&
  sameNumbers(a.low, b.low, a.cells) &&
  sameNumbers(a.high, b.high, a.cells)
    ? []
    : ['cells']

const unlikeRows = (a: BlockRows | undefined, b: BlockRows | undefined): string[] => {
  if (a === undefined || b === undefined) return a === b ? [] : ['records']
  const { records } = a
  return [
    ...unlikeSeries(a.figures, b.figures),
    ...unlikeSeries(a.headcounts, b.headcounts).map((column) => `headcount ${column}`),
    ...(records === b.records && a.id.slice(0, records).join() === b.id.slice(0, records).join()
      ? []
      : ['id']),
    ...(sameNumbers(a.country, b.country, records) ? [] : ['country']),
    ...(sameNumbers(a.currency, b.currency, records) ? [] : ['currency']),
    ...(sameNumbers(a.start, b.start, records) && sameNumbers(a.next, b.next, records) ? [] : ['place']),
    ...unlikeCells(a.objects.records, b.objects.records),
    ...(sameNumbers(a.figuresEnd, b.figuresEnd, records) ? [] : ['figures of records']),
    ...(sameNumbers(a.headcountsEnd, b.headcountsEnd, records) ? [] : ['headcounts of records']),
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
    const texts = Array.from({ length: Math.min(LINES_AT_ONCE, cases - done) }, () => {
      const line = lines[Math.floor(random() * lines.length)] ?? ''
      return random() < CHANGED ? changedLine(line, random, CHANGES) : line
    })
    const bytes = Buffer.from(`${texts.join('\n')}\n`)
    const block = { bytes, firstLine: 1, offset: 0, overlong: [] }
    const checked = checkBlock(block, quick)
    const unlikes = unlike(checked, checkBlock(block, careful))
    if (unlikes.length > 0) wrong.push(`lines from ${done} on: ${unlikes.join(', ')}`)
    figures.blocks++
    figures.rejected += checked.rejected.length
    figures.accepted += checked.lines - checked.rejected.length
    figures.figures += checked.parts[0]?.rows.figures.rows ?? 0
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
