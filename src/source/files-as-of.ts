/** As of when files are, where a person says so: an instant, `now`, or the date in each file's name. */

import { basename } from 'node:path'
import { ToolkitError } from '../core/errors.ts'
import { AS_OF_BEGIN, type Source } from '../core/source.ts'
import { instantUntil } from '../support/instants.ts'

const NOW = 'now'
const BY_NAME = 'name'

const DATE = /(?<!\d)((?:19|20)\d\d)(?:[-_.]?(\d\d)[-_.]?(\d\d)|[-_.](\d{1,2})[-_.](\d{1,2}))(?!\d)/

/** The day in a file's name; that of today counts until now. @throws {ToolkitError} USAGE */
const asOfName = (name: string): string => {
  const [, year, month, day, m = month, d = day] = DATE.exec(basename(name)) ?? []
  const instant = year && instantUntil(`${year}-${m?.padStart(2, '0')}-${d?.padStart(2, '0')}`, Date.now())
  if (!instant)
    throw new ToolkitError(
      'USAGE',
      `Cannot tell as of when "${name}" is: expected a date until today in its name, such as firms-2026-01-31.jsonl`,
      { source: name },
    )
  return instant.endsWith('T23:59:59.999Z') ? instant : AS_OF_BEGIN
}

/** A source as of what a plan says; as it is where that says nothing. @throws {ToolkitError} USAGE */
export const sourceAsOf = (source: Source, asOf: string | undefined): Source => {
  if (asOf === undefined) return source
  if (asOf === NOW) return { ...source, asOf: AS_OF_BEGIN }
  return { ...source, asOf: asOf === BY_NAME ? asOfName(source.name) : asOf }
}
