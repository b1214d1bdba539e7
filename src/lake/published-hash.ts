/** The hashes of published files, in `_published/`: one small file for each, sealed, so that it is told from its file. */

import { sha256Of } from '../support/hash.ts'
import { seal, unseal } from '../support/sealed-text.ts'

export const PUBLISHED_FOLDER = '_published'

/** Folders of a table where logs of table formats are published. */
export const PUBLISHED_IN_TABLE = ['_delta_log', 'metadata'] as const

const ENDING = '.hash'
export const publishedHashPath = (path: string): string => `${PUBLISHED_FOLDER}/${path}${ENDING}`

/** The published file of a hash's path; `null` for any other path. */
export const publishedPathOf = (path: string): string | null =>
  path.startsWith(`${PUBLISHED_FOLDER}/`) && path.endsWith(ENDING)
    ? path.slice(PUBLISHED_FOLDER.length + 1, -ENDING.length)
    : null

export const publishedHash = (data: string | Uint8Array): string =>
  `${seal(JSON.stringify({ sha256: sha256Of(data) }))}\n`

/** The hash that stands in such a file; `undefined` where it was changed or cut. */
export const readPublishedHash = (bytes: Buffer): string | undefined => {
  const read = unseal(bytes)
  return read.kind === 'sealed' && 'sha256' in read.value ? String(read.value.sha256) : undefined
}
