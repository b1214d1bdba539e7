/** Files that cannot be read to their end, and what --skip-bad-files makes of them. */

import { type ErrorCode, ToolkitError } from '../../core/errors.ts'
import type { Source } from '../../core/source.ts'
import { kindOf } from '../../core/source-kinds.ts'

/** A file that a run has left out. Nothing of it is recorded as loaded: the next run takes it. */
export interface LeftOut {
  readonly source: string
  readonly code: ErrorCode
  readonly reason: string
}

/** What is wrong with one file and says nothing of the others. */
export const CODES_OF_ONE_FILE: readonly ErrorCode[] = [
  'SOURCE_NOT_FOUND',
  'SOURCE_UNREADABLE',
  'SOURCE_CHANGED',
  'SOURCE_FORM',
  'DOCUMENT_DAMAGED',
  'CONTENT_UNKNOWN',
  'DECODE_DAMAGED',
  'DECODE_TRUNCATED',
  'DECODE_TRAILING',
  'DECODE_LIMIT',
  'DOWNLOAD_DAMAGED',
]

/** The error that a file is left out for. Not so of what can be read only once: it could not be loaded later. */
export const badFile = (source: Pick<Source, 'kind'>, error: unknown): ToolkitError | undefined =>
  kindOf(source).mayBeLeftOut && error instanceof ToolkitError && CODES_OF_ONE_FILE.includes(error.code)
    ? error
    : undefined

export const leftOutFor = ({ name }: Pick<Source, 'name'>, { code, message }: ToolkitError): LeftOut => ({
  source: name,
  code,
  reason: message,
})
