/** Options of the commands that search: what is asked for. */

import { Argument, Option } from 'commander'
import { LIMITS } from '../../contract/limits.ts'
import type { Content } from '../../contract/objects.ts'
import type { SearchParameters } from '../../contract/requests.ts'
import { readReason, systemCode, ToolkitError } from '../../core/errors.ts'
import { readUserText } from '../../core/user-text.ts'
import type { PullSettings } from '../../jobs/pull/pull-settings.ts'
import { parseSearch } from '../../jobs/pull/search.ts'
import { MAX_GONE } from '../../options/lake-jobs.ts'
import type { QuarantineLimit } from '../../options/value-types.ts'
import { optionOf } from '../add-command.ts'
import { wholeNumber } from './options.ts'

export interface SearchOptions {
  readonly search: string
  readonly currency?: string
  readonly since?: string
  readonly until?: string
  readonly by?: string
  readonly closeGap: boolean
  readonly cap: number
  readonly pageSize: number
}

export const contentArgument = (): Argument =>
  new Argument('<content>', 'what to ask for').choices(['companies', 'relations'])

const atMost =
  (option: string, most: number) =>
  (text: string): number => {
    const number = wholeNumber(option)(text)
    if (number <= most) return number
    throw new ToolkitError('USAGE', `Cannot read ${option} "${text}": expected at most ${most}`)
  }

export const searchOption = (): Option =>
  new Option('--search <json>', 'search parameters as JSON, or @file').makeOptionMandatory()

export const currencyOption = (): Option =>
  new Option('--currency <code>', 'currency of the figures of companies (default: USD)')

export const byOption = (): Option =>
  new Option('--by <parameter>', 'date parameter for windows; --since and --until refer to it')

export const closeGapOption = (): Option =>
  new Option('--no-close-gap', 'skip companies not covered by any window: no lists, no further requests')

/** Left out where it is the default, so that a run begun without it resumes. */
export const keepingGap = ({ closeGap }: Pick<SearchOptions, 'closeGap'>) => (closeGap ? {} : { closeGap })

const pageSizeOption = (): Option =>
  new Option('--page-size <n>', 'records of a page')
    .argParser(atMost('--page-size', LIMITS.pageSize.most))
    .default(LIMITS.pageSize.most)

export interface MaxGoneFlag {
  readonly maxGone: QuarantineLimit
}

export const maxGoneOption = (): Option => optionOf('maxGone', MAX_GONE)

export interface RequireOption {
  readonly requireRecords?: true
}

export const requireOption = (): Option =>
  new Option('--require-records', 'exit with 1 where the search finds no record at all')

/** Ends a command whose search found nothing; its run is committed by then. @throws {ToolkitError} NOTHING_FOUND */
export const requireRecords = (found: number, content: Content, { requireRecords }: RequireOption): void => {
  if (!requireRecords || found > 0) return
  throw new ToolkitError(
    'NOTHING_FOUND',
    `Cannot use the ${content} of the search: it found none, expected at least one`,
    { content },
  )
}

/** All but the first day, which differs between commands. */
export const searchOptions = (): Option[] => [
  searchOption(),
  currencyOption(),
  new Option('--until <day>', 'last day (UTC)'),
  byOption(),
  closeGapOption(),
  pageSizeOption(),
  new Option('--cap <n>', 'most records of a window')
    .argParser(atMost('--cap', LIMITS.cursorCap))
    .default(LIMITS.cursorCap),
]

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

/** @throws {ToolkitError} USAGE */
export const settingsFor = (
  content: Content,
  search: SearchParameters,
  { currency, since, until, by, cap, pageSize, closeGap }: Omit<SearchOptions, 'search'>,
): PullSettings => {
  if (content === 'relations' && currency !== undefined)
    throw new ToolkitError('USAGE', 'Cannot pull relations in a --currency: they have no figures')
  return { content, search, currency, since, until, by, cap, pageSize, ...keepingGap({ closeGap }) }
}
