/** Options that several jobs share. */

import { BUCKET_FORM } from '../core/lake-address.ts'
import { type Entry, needed, option } from './entry.ts'
import { abortSignal, lakeAddress, trueOrFalse } from './value-types.ts'

export const LAKE: Entry<string, true> = needed(lakeAddress, `folder of the lake, or ${BUCKET_FORM}`, {
  flag: '-l, --lake',
  variable: 'FIRMLAKE_LAKE',
  doc: 'A folder, or `s3://bucket/prefix`.',
})

/** @param doc what it stops */
export const signalThat = (doc: string): Entry<AbortSignal, false> =>
  option(abortSignal, 'stops it', { only: 'calls', doc })

export const DRY_RUN = option(trueOrFalse, 'change nothing, report what would be done')

export const JSON_OUTPUT = option(
  trueOrFalse,
  'the result as one JSON document, errors as one line of JSON',
  { only: 'commands' },
)

export const YES = option(trueOrFalse, 'at a terminal: ask nothing, do it', { only: 'commands' })
