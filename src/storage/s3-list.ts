/** Lists what stands in a bucket. Folders are parts of keys, or empty objects `<folder>/` that mark them. */

import type { ListObjectsV2CommandOutput } from '@aws-sdk/client-s3'
import { keysBelow, pathOfKey } from './s3-address.ts'
import type { S3Objects } from './s3-objects.ts'
import type { StoredEntry, StoredFile } from './storage.ts'

interface ListOptions {
  /** Whether what stands in folders comes as the folders' names. */
  readonly delimited?: boolean
  /** The most keys of a page. @default what the endpoint gives, 1000 */
  readonly most?: number
}

/** The pages of all keys that begin with a text. */
const pagesOf = async function* (
  objects: S3Objects,
  Prefix: string,
  { delimited = false, most }: ListOptions = {},
): AsyncGenerator<ListObjectsV2CommandOutput> {
  const { bucket: Bucket, uri } = objects.address
  const asked = { Bucket, Prefix, ...(delimited && { Delimiter: '/' }), ...(most && { MaxKeys: most }) }
  let token: string | undefined
  do {
    const ContinuationToken = token
    const page = await objects.run(
      `Cannot list "s3://${Bucket}/${Prefix}" of lake "${uri}"`,
      ({ sdk, client }) => client.send(new sdk.ListObjectsV2Command({ ...asked, ContinuationToken })),
    )
    yield page
    token = page.IsTruncated ? page.NextContinuationToken : undefined
  } while (token !== undefined)
}

/** An object by which writers see that the endpoint keeps to conditions. It is no file of the lake. */
export const CONDITIONS_PATH = '.conditional-writes'

/** Objects that are no files. */
const isMarker = (path: string): boolean => path === '' || path.endsWith('/') || path === CONDITIONS_PATH

/** Everything whose key begins with a text, markers of folders too (their paths end with a slash). */
const listKeys = async (objects: S3Objects, prefix: string): Promise<StoredFile[]> => {
  const found: StoredFile[] = []
  for await (const { Contents = [] } of pagesOf(objects, prefix))
    for (const { Key = '', Size = 0, LastModified } of Contents)
      found.push({
        path: pathOfKey(objects.address, Key),
        bytes: Size,
        changedMs: LastModified?.getTime() ?? 0,
      })
  // The order of JavaScript's texts, as of a folder; a bucket has that of UTF-8.
  return found.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Files whose paths begin with a text, in any folder. */
export const listBeginning = async (objects: S3Objects, start: string): Promise<StoredFile[]> =>
  (await listKeys(objects, objects.at(start).Key)).filter(({ path }) => !isMarker(path))

export const listFiles = async (objects: S3Objects, folder: string): Promise<StoredFile[]> =>
  (await listKeys(objects, keysBelow(objects.address, folder))).filter(({ path }) => !isMarker(path))

/** What makes a folder: its files, and the markers of it and of folders in it, the innermost first. */
export const listAll = async (
  objects: S3Objects,
  folder: string,
): Promise<{ readonly files: readonly string[]; readonly markers: readonly string[] }> => {
  const paths = (await listKeys(objects, keysBelow(objects.address, folder))).map(({ path }) => path)
  return {
    files: paths.filter((path) => !isMarker(path)),
    markers: paths.filter((path) => path !== '' && isMarker(path)).reverse(),
  }
}

export const listEntries = async (objects: S3Objects, folder: string): Promise<StoredEntry[]> => {
  const prefix = keysBelow(objects.address, folder)
  const entries: StoredEntry[] = []
  for await (const { Contents = [], CommonPrefixes = [] } of pagesOf(objects, prefix, { delimited: true })) {
    for (const { Key = '' } of Contents)
      if (!isMarker(pathOfKey(objects.address, Key)))
        entries.push({ name: Key.slice(prefix.length), kind: 'file' })
    for (const { Prefix = '' } of CommonPrefixes)
      entries.push({ name: Prefix.slice(prefix.length, -1), kind: 'folder' })
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
}

export const hasKeysBelow = async (objects: S3Objects, folder: string): Promise<boolean> => {
  const prefix = keysBelow(objects.address, folder)
  for await (const { Contents = [] } of pagesOf(objects, prefix, { most: 1 }))
    if (Contents.length > 0) return true
  return false
}
