/** Folders and files of a bucket. Folders are parts of paths, or empty objects `<folder>/` that mark them. */

import type { ListedObject, ObjectStore } from './object-store.ts'
import type { StoredEntry, StoredFile } from './storage.ts'
import { checkPath } from './store-paths.ts'

/** An object by which writers see that the endpoint keeps to conditions. It is no file of the lake. */
export const CONDITIONS_PATH = '.conditional-writes'

/** Objects that are no files. */
const isMarker = (path: string): boolean => path === '' || path.endsWith('/') || path === CONDITIONS_PATH

/** What all paths below a folder begin with; `''` is the whole lake. */
const below = ({ address }: ObjectStore, folder: string): string => {
  if (folder === '') return ''
  checkPath(address, folder)
  return `${folder}/`
}

/** Everything whose path begins with a text, markers of folders too (their paths end with a slash). */
const listAllOf = async (store: ObjectStore, prefix: string): Promise<ListedObject[]> => {
  const found: ListedObject[] = []
  for await (const one of store.list(prefix)) found.push(one)
  // The order of JavaScript's texts, as of a folder; a bucket has that of UTF-8.
  return found.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Files whose paths begin with a text, in any folder. */
export const listBeginning = async (store: ObjectStore, start: string): Promise<StoredFile[]> => {
  checkPath(store.address, start)
  return (await listAllOf(store, start)).filter(({ path }) => !isMarker(path))
}

export const listFiles = async (store: ObjectStore, folder: string): Promise<StoredFile[]> =>
  (await listAllOf(store, below(store, folder))).filter(({ path }) => !isMarker(path))

/** What makes a folder: its files, and the markers of it and of folders in it, the innermost first. */
export const listAll = async (
  store: ObjectStore,
  folder: string,
): Promise<{ readonly files: readonly string[]; readonly markers: readonly string[] }> => {
  const paths = (await listAllOf(store, below(store, folder))).map(({ path }) => path)
  return {
    files: paths.filter((path) => !isMarker(path)),
    markers: paths.filter((path) => path !== '' && isMarker(path)).reverse(),
  }
}

export const listEntries = async (store: ObjectStore, folder: string): Promise<StoredEntry[]> => {
  const prefix = below(store, folder)
  const entries: StoredEntry[] = []
  for await (const { path } of store.list(prefix, { folders: true })) {
    const name = path.slice(prefix.length)
    if (name.endsWith('/')) entries.push({ name: name.slice(0, -1), kind: 'folder' })
    else if (name !== '' && !isMarker(path)) entries.push({ name, kind: 'file' })
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
}

export const hasFilesBelow = async (store: ObjectStore, folder: string): Promise<boolean> => {
  for await (const _ of store.list(below(store, folder), { pageSize: 1 })) return true
  return false
}
