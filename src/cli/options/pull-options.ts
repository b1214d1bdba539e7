/** The search of a command. */

import type { Content } from '../../contract/objects.ts'
import type { SearchParameters } from '../../contract/requests.ts'
import { readReason, systemCode, ToolkitError } from '../../core/errors.ts'
import { readUserText } from '../../core/user-text.ts'
import { parseSearch } from '../../pull/windows/search.ts'

/** Ends a command whose search found nothing; its run is committed by then. @throws {ToolkitError} NOTHING_FOUND */
export const requireRecords = (
  found: number,
  content: Content,
  { requireRecords }: { readonly requireRecords?: boolean | undefined },
): void => {
  if (!requireRecords || found > 0) return
  throw new ToolkitError(
    'NOTHING_FOUND',
    `Cannot use the ${content} of the search: it found none, expected at least one`,
    { content },
  )
}

/** The search that a person gave. @throws {ToolkitError} USAGE, SOURCE_NOT_FOUND, SOURCE_UNREADABLE */
export const searchOf = async (text: string): Promise<SearchParameters> => {
  if (!text.startsWith('@')) return parseSearch(text)
  const path = text.slice(1)
  try {
    return parseSearch(await readUserText(path))
  } catch (error) {
    if (error instanceof ToolkitError) throw error
    const code = systemCode(error) === 'ENOENT' ? 'SOURCE_NOT_FOUND' : 'SOURCE_UNREADABLE'
    const text = `Cannot read the search from "${path}": ${readReason(error)}`
    throw new ToolkitError(code, text, { source: path }, error)
  }
}

interface Searching {
  readonly content?: Content
  readonly search: string
  readonly currency?: string | undefined
}

/** The values of a command with its search, read. @throws {ToolkitError} as `searchOf` */
export const readingSearch = async <Values extends Searching>(
  values: Values,
): Promise<Omit<Values, 'search'> & { readonly search: SearchParameters }> => {
  const search = await searchOf(values.search)
  if (values.content === 'relations' && values.currency !== undefined)
    throw new ToolkitError('USAGE', 'Cannot pull relations in a --currency: they have no figures')
  return { ...values, search }
}
