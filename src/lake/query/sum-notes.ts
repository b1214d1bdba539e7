/** Notes on a statement whose answer is probably not the one that was meant: a sum that is none, a name that does not occur. */

import { CONSOLIDATIONS } from '../../contract/dictionaries.ts'
import { LINE_ITEMS } from '../../contract/line-items.ts'
import { nearestName } from '../../support/nearest-name.ts'
import type { Row, Session } from '../duckdb/engine.ts'
import { literal } from '../duckdb/sql.ts'
import { FIGURE_SOURCES, type FoundSum, findSums, type NamedText, namedStrings } from './find-sums.ts'

/** The time that a scan for notes may take beside the statement. */
const MIN_MS = 100
const SHARE = 0.2

const FLOWS = LINE_ITEMS.filter(({ kind }) => kind === 'flow').map(({ lineItem }) => literal(lineItem))

const scanOf = ({ source, conditions }: FoundSum): string => {
  const isMacro = source.endsWith('_in')
  const from = source === 'latest_figures' ? source : 'financials'
  const where = [
    // A macro's currency is the target.
    ...conditions.filter((one) => !isMacro || !one.startsWith('"currency"')),
    ...(source === 'figures' || source === 'figures_in' ? ['is_preferred'] : []),
  ]
  const doubles =
    from === 'financials' ? 'bool_or(NOT is_preferred) AND count(DISTINCT consolidation) > 1' : 'false'
  return `SELECT count(DISTINCT currency)::INTEGER AS currency, CASE WHEN ${doubles} THEN 2 ELSE 1 END AS consolidation,
  count(DISTINCT months) FILTER (line_item IN (${FLOWS.join(', ')}))::INTEGER AS months
FROM ${from}${where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`}`
}

const WORDS: Readonly<Record<string, (count: number | undefined) => string>> = {
  currency: (count) => `${count ?? 'several'} currencies`,
  consolidation: () => 'both consolidations',
  months: (count) => `years of ${count ?? 'several'} lengths`,
}

const sumNote = ({ source, verb, apart }: FoundSum, found: Row | undefined): string | undefined => {
  if (apart.includes('kind'))
    return `${verb} stakes of several kinds; owner_holdings has one row an owner and company`
  const counted = (column: string): number | undefined =>
    found === undefined ? undefined : Number(found[column])
  const parts = apart.filter((column) => (counted(column) ?? 2) > 1)
  if (parts.length === 0) return undefined
  const words = parts.map((column) => WORDS[column]?.(counted(column)) ?? column)
  const listed = [words.slice(0, -1).join(', '), ...words.slice(-1)].filter(Boolean).join(' and ')
  const isAdvised = parts.includes('currency') || parts.includes('consolidation')
  const advice =
    isAdvised && source !== 'figures_in'
      ? "figures_in('EUR') has one figure a company"
      : 'months has the length of each'
  return `${found === undefined ? `may ${verb.slice(0, -1)}` : verb} ${listed}; ${advice}`
}

const NAMES: Readonly<Record<string, string>> = {
  line_item: 'no line item is named',
  country_code: 'no figure has the country',
  currency: 'no figure has the currency',
  consolidation: 'no consolidation is named',
}

const KNOWN_SQL: Readonly<Record<string, string>> = {
  line_item: 'SELECT DISTINCT line_item AS name FROM line_items',
  country_code: 'SELECT DISTINCT country_code AS name FROM financials WHERE country_code IS NOT NULL',
  currency: 'SELECT DISTINCT currency AS name FROM financials WHERE currency IS NOT NULL',
}

/** A session to ask, whose statement is interrupted when the time is over. */
export interface NoteSession {
  readonly session: Pick<Session, 'rows' | 'interrupt'>
  /** Makes tables readable. */
  readonly read: (tables: ReadonlySet<string>) => Promise<void>
}

const textNotes = async (
  strings: readonly NamedText[],
  rows: (sql: string) => Promise<readonly Row[] | undefined>,
): Promise<readonly string[]> => {
  const notes: string[] = []
  for (const [column, own] of Map.groupBy(strings, (one) => one.column)) {
    const sql = KNOWN_SQL[column]
    const found = sql === undefined ? CONSOLIDATIONS : await rows(sql)
    if (found === undefined) continue
    const known = found.map(({ name }) => String(name))
    for (const { text } of own) {
      if (known.includes(text)) continue
      const nearest = nearestName(text, known)
      notes.push(`${NAMES[column]} ${literal(text)}${nearest === undefined ? '' : `; ${nearest}`}`)
    }
  }
  return notes
}

/**
 * Notes on a statement that reads figures or stakes.
 *
 * @param tree of its statements
 * @param tables that it reads, in lower case
 * @param tookMs how long it took
 */
export const notesOn = async (
  tree: unknown,
  tables: ReadonlySet<string>,
  tookMs: number,
  { session, read }: NoteSession,
): Promise<readonly string[]> => {
  const sums = findSums(tree)
  const isOfFigures = [...tables].some((name) => FIGURE_SOURCES.has(name) || /^(growth|cagr)/.test(name))
  const strings = isOfFigures ? namedStrings(tree) : []
  if (sums.length === 0 && strings.length === 0) return []
  const scanned = [
    ...sums.map(({ source }) => source),
    ...(strings.some(({ column }) => column === 'line_item') ? ['line_items'] : []),
    'financials',
  ]
  if (isOfFigures) await read(new Set(scanned))
  const ends = performance.now() + Math.max(MIN_MS, SHARE * tookMs)
  const rows = async (sql: string): Promise<readonly Row[] | undefined> => {
    const leftMs = ends - performance.now()
    if (leftMs <= 0) return undefined
    const timer = setTimeout(() => session.interrupt(), leftMs)
    try {
      return await session.rows(sql)
    } catch {
      return undefined
    } finally {
      clearTimeout(timer)
    }
  }
  const notes = new Set<string>()
  for (const sum of sums) {
    const found = sum.apart.includes('kind') ? undefined : await rows(scanOf(sum))
    const note = sumNote(sum, found?.[0])
    if (note !== undefined) notes.add(note)
  }
  for (const note of await textNotes(strings, rows)) notes.add(note)
  return [...notes]
}
