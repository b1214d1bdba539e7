/** The hashes of published files: one small file for each, sealed, so that damage to it is distinguished from damage to its file. */

import { TABLE_FORMAT_NAMES, TABLE_FORMATS, type TableFormatName } from '../../core/table-formats.ts'
import { sha256Of } from '../../support/hash.ts'
import { seal, unseal } from '../../support/sealed-text.ts'

/** Folders of a table where logs of table formats are published. */
export const PUBLISHED_IN_TABLE = TABLE_FORMAT_NAMES.map((name) => TABLE_FORMATS[name].logFolder)

/** Where tables of current rows stand, by format, each in a folder of its own: metadata and files that are not the lake's. */
export const PUBLISHED_FOLDER = 'published'
export const currentFolder = (format: TableFormatName): string => `${PUBLISHED_FOLDER}/${format}`

/** In the folder of what is published, so that they go with it. Readers of both formats pass it by. */
export const HASHES_FOLDER = '_hashes'
const ENDING = '.hash'
const HASH_PATH = /^(.*)\/_hashes\/([^/]+)\.hash$/

export const publishedHashPath = (path: string): string => {
  const at = path.lastIndexOf('/')
  return `${path.slice(0, at)}/${HASHES_FOLDER}${path.slice(at)}${ENDING}`
}

/** The published file of a hash's path; `null` for any other path. */
export const publishedPathOf = (path: string): string | null => {
  const [, folder, name] = HASH_PATH.exec(path) ?? []
  return folder === undefined ? null : `${folder}/${name}`
}

export const publishedHash = (data: string | Uint8Array): string => recordedHash(sha256Of(data))

/** The same of a file whose hash is known. @param sha256 in hex, lower case */
export const recordedHash = (sha256: string): string => `${seal(JSON.stringify({ sha256 }))}\n`

/** The hash that stands in such a file; `undefined` where it was changed or cut. */
export const readPublishedHash = (bytes: Buffer): string | undefined => {
  const read = unseal(bytes)
  return read.kind === 'sealed' && 'sha256' in read.value ? String(read.value.sha256) : undefined
}
