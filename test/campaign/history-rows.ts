/** The histories of two lakes that took the same loads, row by row: what each counts for itself is left out, and equal neighbours are one row. */

import { openQuery } from '../../src/jobs/query.ts'
import { differenceOf } from './year-rows.ts'

const TABLES = [
  ...['companies', 'financials', 'employees', 'relations', 'relation_entities', 'ownerships', 'roles'],
] as const

/** Numbers and names that a lake gives itself. */
const OWN = ['snapshot', 'run', 'version', 'until'] as const
/** Facts of an interval beside its row; since when it was shown is asked for by what was known on a day. */
const OF_INTERVAL = [
  ...([
    'as_of',
    'until_as_of',
    'loaded_at',
    'shown_from',
    'shown_until',
    'known_since',
    'is_current',
  ] as const),
] as const

type Row = Readonly<Record<string, unknown>>

const without = (row: Row, names: readonly string[]): Row =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)))

const INSTANT = /^(\d{4}-\d\d-\d\d)[ T]\d\d:\d\d/

/** Both lakes pull one after the other: days are the same, seconds are not. */
const dayOf = (value: unknown): unknown =>
  typeof value === 'string' ? (INSTANT.exec(value)?.[1] ?? value) : value

const textOf = (row: Row): string =>
  JSON.stringify(Object.entries(without(row, OWN)).map(([name, value]) => [name, dayOf(value)]))

/** A row over its versions, each beginning where the one before ends. */
const intervalsOf = (rows: readonly Row[]): readonly string[] => {
  const byText = Map.groupBy(rows, (row) => textOf(without(row, OF_INTERVAL)))
  return [...byText].flatMap(([text, own]) => {
    const found: { readonly first: Row; last: Row }[] = []
    for (const row of own.toSorted((a, b) => (String(a.as_of) < String(b.as_of) ? -1 : 1))) {
      const before = found.at(-1)
      if (before && before.last.until_as_of === row.as_of) before.last = row
      else found.push({ first: row, last: row })
    }
    return found.map(
      ({ first, last }) =>
        `${text} of ${dayOf(first.as_of)}, loaded ${dayOf(first.loaded_at)}, until ${dayOf(last.until_as_of)}, current ${last.is_current}`,
    )
  })
}

interface Question {
  readonly from: string
  readonly stringsOf: (rows: readonly Row[]) => readonly string[]
}

const plainly = (from: string): Question => ({ from, stringsOf: (rows) => rows.map(textOf) })

const questionsOf = (days: readonly string[]): readonly Question[] => [
  ...TABLES.flatMap((table) => [plainly(table), { from: `${table}_history`, stringsOf: intervalsOf }]),
  ...['companies_all', 'restatements', 'company_changes', 'first_reported', 'line_items'].map(plainly),
  plainly('(SELECT content, loaded_at FROM history_begins)'),
  ...days.flatMap((day) =>
    ['figures', 'companies', 'relations'].flatMap((what) => [
      plainly(`${what}_as_of('${day}')`),
      plainly(`${what}_as_known('${day}')`),
    ]),
  ),
]

const answersOf = async (
  lake: string,
  questions: readonly Question[],
): Promise<readonly (readonly string[])[]> => {
  const query = await openQuery({ lake })
  try {
    const answers: (readonly string[])[] = []
    for (const { from, stringsOf } of questions) {
      const rows: Row[] = []
      for await (const chunk of (await query.run(`SELECT to_json(t)::VARCHAR FROM ${from} AS t`)).rows)
        for (const [text] of chunk) rows.push(JSON.parse(String(text)))
      answers.push(stringsOf(rows))
    }
    return answers
  } finally {
    query.close()
  }
}

/** @param days of which is asked what was said and known by then @returns what one lake has otherwise than the one that was never compacted */
export const compareHistories = async (
  { merged, whole }: { readonly merged: string; readonly whole: string },
  days: readonly string[],
): Promise<{ readonly wrong: readonly string[]; readonly rows: number }> => {
  const questions = questionsOf(days)
  const [found, wanted] = [await answersOf(merged, questions), await answersOf(whole, questions)]
  return {
    wrong: questions.flatMap(({ from }, at) => differenceOf(from, found[at] ?? [], wanted[at] ?? [])),
    rows: wanted.reduce((sum, rows) => sum + rows.length, 0),
  }
}
