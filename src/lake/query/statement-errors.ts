/**
 * DuckDB's messages about a statement, for the person who wrote it: with the line and the caret of the own text, and with names
 * looked up among the views and macros of a lake.
 */

import { nearestName } from '../../support/nearest-name.ts'
import { howToRead, readableNames } from '../views/catalog.ts'

/** The end of a message: a line of the statement, cut to what is around the caret, and the caret. */
const EXCERPT = /\n+LINE (\d+): (.*)\n( *)\^$/
/** Begins and ends an excerpt that is cut. */
const CUT = /^\.\.\.|\.\.\.$/g
/** The name that a message is about. */
const NAME = /^Catalog Error: .*? with name "?(.+?)"? does not exist|^Binder Error: .*?column "(.+?)"/
const MISSING =
  /^(Catalog Error: (Table|Table Function|Scalar Function) with name "?(.+?)"? does not exist!)(?:\nDid you mean "(.+)"\?)?/

/** Characters of a long line that are shown before and behind the caret. */
const AROUND = 60

/** A caret below a line. A tab stands below a tab, so that it is as wide. @param columns left of it, tabs not counted */
const caretBelow = (line: string, columns: number): string => {
  let blank = ''
  let left = columns
  for (const character of line) {
    if (character !== '\t' && left === 0) break
    if (character !== '\t') left -= 1
    blank += character === '\t' ? '\t' : ' '
  }
  return `${blank}${' '.repeat(left)}^`
}

/** The line of a statement that an offset is in, and a caret below. */
export const markedLine = (sql: string, offset: number): string => {
  const before = sql.slice(0, offset).split('\n')
  const column = before.at(-1)?.length ?? 0
  const line = sql.split('\n')[before.length - 1] ?? ''
  const [start, end] = [Math.max(0, column - AROUND), column + AROUND]
  const [head, tail] = [start > 0 ? '...' : '', end < line.length ? '...' : '']
  const shown = `LINE ${before.length}: ${head}${line.slice(start, end)}${tail}`
  const left = shown.slice(0, shown.length - tail.length - line.slice(column, end).length)
  return `${shown}\n${caretBelow(shown, left.replaceAll('\t', '').length)}`
}

/** The name that may be meant, and how it is read. @param others taken where no view and no macro has such a name */
const didYouMean = (name: string, others: readonly string[]): string | undefined => {
  const nearest = nearestName(name, readableNames()) ?? nearestName(name, others)
  if (nearest === undefined) return undefined
  const how = howToRead(nearest)
  return `Did you mean "${nearest}"?${how?.includes(' is a macro') ? ` ${how}` : ''}`
}

/** A message about a missing name without DuckDB's suggestion, which knows neither macros nor views nobody named. */
const withHint = (message: string): string =>
  message.replace(MISSING, (_, said: string, _kind, name: string, suggested?: string) => {
    const hint = howToRead(name.toLowerCase()) ?? didYouMean(name, suggested === undefined ? [] : [suggested])
    return hint === undefined ? said : `${said}\n${hint}`
  })

/**
 * DuckDB's message as the author of a statement reads it.
 *
 * @param sql the statement as it was written
 * @param linesBefore lines that were put before it
 */
export const statementMessage = (message: string, sql: string, linesBefore = 0): string => {
  const [end = '', number, excerpt = '', space = ''] = EXCERPT.exec(message) ?? []
  const said = withHint(message.slice(0, message.length - end.length))
  if (end === '') return said
  const line = Number(number) - linesBefore
  if (sql.split('\n')[line - 1]?.includes(excerpt.replace(CUT, ''))) {
    const shown = `LINE ${line}: ${excerpt}`
    const shift = shown.length - `LINE ${number}: ${excerpt}`.length
    return `${said}\n\n${shown}\n${caretBelow(shown, space.length + shift)}`
  }
  // DuckDB shows a statement that was made of this one.
  const [, catalogName, columnName] = NAME.exec(message) ?? []
  const at = sql.indexOf(catalogName ?? columnName ?? '\0')
  return at < 0 ? said : `${said}\n\n${markedLine(sql, at)}`
}
