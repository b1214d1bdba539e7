/** Lists folders whose entries may be deleted meanwhile; and names of files that are no UTF-8, as texts. */

import { isUtf8 } from 'node:buffer'
import type { Dirent } from 'node:fs'
import { lstat, readdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type IdleRule, isLeftover, temporaryLiveness } from './process-identity.ts'

const isAbsent = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')

/** The entries of a folder by name; none when there is no such folder. */
export const listFolder = async (path: string): Promise<Dirent[]> => {
  try {
    const entries = await readdir(path, { withFileTypes: true })
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    if (isAbsent(error)) return []
    throw error
  }
}

/** A file or folder: size, and when it was last written. */
export interface FoundPath {
  readonly path: string
  readonly kind: 'file' | 'folder'
  readonly bytes: number
  readonly changedMs: number
  /** The same for all names (hard links) of a file. */
  readonly identity: string
  /** How many names a file has. */
  readonly names: number
}

/** Size and time of one path; `null` when there is none. Symbolic links are not followed. */
export const statPath = async (path: string): Promise<FoundPath | null> => {
  try {
    const stat = await lstat(path)
    const kind = stat.isDirectory() ? 'folder' : 'file'
    return {
      ...{ path, kind, bytes: kind === 'folder' ? 0 : stat.size, changedMs: stat.mtimeMs },
      ...{ identity: `${stat.dev}:${stat.ino}`, names: stat.nlink },
    }
  } catch (error) {
    if (isAbsent(error)) return null
    throw error
  }
}

/** Everything below a path and the path itself, a folder before what is in it; none when it is absent. */
export const listTree = async (path: string): Promise<FoundPath[]> => {
  const self = await statPath(path)
  if (!self) return []
  if (self.kind === 'file') return [self]
  const below: FoundPath[] = [self]
  for (const entry of await listFolder(path)) below.push(...(await listTree(join(path, entry.name))))
  return below
}

/** The bytes that deleting files frees, by path: none where a file has another name elsewhere. */
export const roomOfFiles = (files: readonly FoundPath[]): ReadonlyMap<string, number> => {
  const rooms = new Map<string, number>()
  for (const [first, ...others] of Map.groupBy(files, ({ identity }) => identity).values()) {
    if (first === undefined) continue
    rooms.set(first.path, others.length + 1 >= first.names ? first.bytes : 0)
    for (const { path } of others) rooms.set(path, 0)
  }
  return rooms
}

/** Whether a file or folder with a temporary name was left behind, by its name and the newest change in it. */
export const isLeftBehind = async (path: string, rule: IdleRule = { now: new Date() }): Promise<boolean> => {
  const name = basename(path)
  // The files of a process at work are not listed.
  if (!isLeftover(name, 0, rule)) return false
  return (await listTree(path)).every(({ changedMs }) => isLeftover(name, changedMs, rule))
}

/** Names in a folder under which other processes, or this one, may be at work. */
export const listBusy = async (folder: string): Promise<readonly string[]> => {
  const busy: string[] = []
  for (const { name } of await listFolder(folder))
    if (temporaryLiveness(name) !== null && !(await isLeftBehind(join(folder, name)))) busy.push(name)
  return busy
}

/** Removes what killed processes left in a folder under temporary names; what cannot be removed, such as another user's, stays. */
export const removeLeftovers = async (folder: string): Promise<void> => {
  for (const { name } of await listFolder(folder)) {
    const path = join(folder, name)
    if (await isLeftBehind(path)) await rm(path, { recursive: true, force: true }).catch(() => undefined)
  }
}

// Nothing else in a text is one: a pair of them is one character here.
const RAW_BYTE = /[\udc80-\udcff]/u
const RAW_BYTES = /[\udc80-\udcff]/gu
const RAW_BASE = 0xdc00
const LONGEST_CHARACTER = 4

const characterAt = (bytes: Buffer, at: number): Buffer | undefined => {
  for (let length = 1; length <= LONGEST_CHARACTER && at + length <= bytes.length; length += 1)
    if (isUtf8(bytes.subarray(at, at + length))) return bytes.subarray(at, at + length)
  return undefined
}

/** A path as a text. Bytes that are no UTF-8 are the lone surrogates U+DC80 to U+DCFF, so that two paths stay two. */
export const pathOfBytes = (bytes: Buffer): string => {
  if (isUtf8(bytes)) return bytes.toString()
  let path = ''
  for (let at = 0; at < bytes.length; ) {
    const character = characterAt(bytes, at)
    path += character?.toString() ?? String.fromCharCode(RAW_BASE + (bytes[at] ?? 0))
    at += character?.length ?? 1
  }
  return path
}

/** A path of `pathOfBytes` as the file system takes it. */
export const pathOnDisk = (path: string): string | Buffer =>
  RAW_BYTE.test(path)
    ? Buffer.concat(
        path
          .split(/([\udc80-\udcff])/u)
          .map((part, at) => Buffer.from(at % 2 === 0 ? part : [part.charCodeAt(0) - RAW_BASE])),
      )
    : path

/** The same for people, and for the manifest: `caf%E9.jsonl`. */
export const shownPath = (path: string): string =>
  path.replace(RAW_BYTES, (byte) => `%${(byte.charCodeAt(0) - RAW_BASE).toString(16).toUpperCase()}`)

/** The path that is shown so. */
export const pathOfShown = (shown: string): string =>
  shown.replace(/(?:%[89A-F][0-9A-F])+/g, (bytes) =>
    pathOfBytes(Buffer.from(bytes.replaceAll('%', ''), 'hex')),
  )
