/**
 * Remembers the files of lakes that this machine has hashed before, in a folder of its user. A file there that is damaged, unknown or
 * missing only means that files are hashed again; of two processes that write at once the last one wins.
 */

import { readdir, rm, stat, utimes } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { seal, sha256Of, unseal } from '../support/hash.ts'
import { readCached, writeCached } from '../support/user-cache.ts'
import { workBase } from '../support/work-base.ts'
import { isSameMark } from './check-files.ts'
import type { FileFacts, FileMark, KnownFiles } from './storage.ts'

/** Most files remembered of a lake, and most lakes; the ones used last stay. */
const MOST_FILES = 50_000
const MOST_LAKES = 100

export interface HashMemory extends KnownFiles {
  /** Writes down what was learned. Never throws: what is not remembered is hashed again. */
  readonly save: () => Promise<void>
}

type Entry = readonly [sha256: string, bytes: number, inode: string, modified: string, changed: string]
type Entries = Map<string, Entry>

const isEntry = (value: unknown): value is Entry =>
  Array.isArray(value) &&
  value.length === 5 &&
  value.every((one, at) => typeof one === (at === 1 ? 'number' : 'string'))

const read = async (path: string): Promise<Entries> => {
  const bytes = await readCached(path)
  if (bytes === undefined) return new Map()
  const found = unseal(bytes)
  const files = found.kind === 'sealed' && 'files' in found.value ? found.value.files : {}
  if (typeof files !== 'object' || files === null) return new Map()
  return new Map(Object.entries(files).flatMap(([name, entry]) => (isEntry(entry) ? [[name, entry]] : [])))
}

/** Removes the memories of lakes that were not asked for longest. */
const tidy = async (folder: string): Promise<void> => {
  const memories = (await readdir(folder)).filter((name) => name.endsWith('.json'))
  if (memories.length <= MOST_LAKES) return
  const used = await Promise.all(
    memories.map(async (name) => ({ name, usedMs: (await stat(join(folder, name))).mtimeMs })),
  )
  for (const { name } of used.sort((a, b) => b.usedMs - a.usedMs).slice(MOST_LAKES))
    await rm(join(folder, name), { force: true })
}

const write = async (path: string, lake: string, entries: Entries): Promise<void> => {
  const kept = [...entries].slice(-MOST_FILES)
  await writeCached(path, seal(JSON.stringify({ lake, files: Object.fromEntries(kept) })))
  await tidy(dirname(path))
}

/** @param local where the lake's files stand on this machine */
export const openHashMemory = async (
  local: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<HashMemory> => {
  const lake = resolve(local)
  const path = join(workBase(env), 'hashed', `${sha256Of(lake).slice(0, 32)}.json`)
  const entries = await read(path)
  const learned: Entries = new Map()
  return {
    knows: (file: FileFacts, mark: FileMark) => {
      const [sha256, bytes = 0, inode = '', modified = '', changed = ''] = entries.get(file.path) ?? []
      return sha256 === file.sha256 && isSameMark({ bytes, inode, modified, changed }, mark)
    },
    learn: ({ path: name, sha256 }, { bytes, inode, modified, changed }) => {
      const entry: Entry = [sha256, bytes, inode, modified, changed]
      entries.delete(name)
      entries.set(name, entry)
      learned.set(name, entry)
    },
    save: async () => {
      try {
        if (learned.size === 0) await utimes(path, new Date(), new Date())
        // Files that another process has learned meanwhile stay.
        else await write(path, lake, new Map([...(await read(path)), ...learned]))
      } catch {
        // Hashed again next time.
      }
    },
  }
}
