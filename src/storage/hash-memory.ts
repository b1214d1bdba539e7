/**
 * Which files of lakes this machine has hashed before, in a folder of its user. A file there that is damaged, unknown or
 * missing only means that files are hashed again; of two processes that write at once the last one wins.
 */

import { chmod, mkdir, open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { sha256Of } from '../support/hash.ts'
import { temporaryLiveness, temporaryName } from '../support/process-identity.ts'
import { seal, unseal } from '../support/sealed-text.ts'
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

/** Whether nobody else can write it. */
const isOwn = async (path: string): Promise<boolean> => {
  const { uid, mode } = await stat(path)
  const own = process.getuid?.()
  return own === undefined || (uid === own && (mode & 0o022) === 0)
}

const read = async (path: string): Promise<Entries> => {
  try {
    if (!(await isOwn(dirname(path))) || !(await isOwn(path))) return new Map()
    const found = unseal(await readFile(path))
    const files = found.kind === 'sealed' && 'files' in found.value ? found.value.files : {}
    if (typeof files !== 'object' || files === null) return new Map()
    return new Map(Object.entries(files).flatMap(([name, entry]) => (isEntry(entry) ? [[name, entry]] : [])))
  } catch {
    return new Map()
  }
}

/** Removes what killed processes left and the memories of lakes that were not asked for longest. */
const tidy = async (folder: string): Promise<void> => {
  const names = await readdir(folder)
  for (const name of names)
    if (temporaryLiveness(name) === 'gone') await rm(join(folder, name), { force: true })
  const memories = names.filter((name) => name.endsWith('.json'))
  if (memories.length <= MOST_LAKES) return
  const used = await Promise.all(
    memories.map(async (name) => ({ name, usedMs: (await stat(join(folder, name))).mtimeMs })),
  )
  for (const { name } of used.sort((a, b) => b.usedMs - a.usedMs).slice(MOST_LAKES))
    await rm(join(folder, name), { force: true })
}

const write = async (path: string, lake: string, entries: Entries): Promise<void> => {
  const folder = dirname(path)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await chmod(folder, 0o700)
  const kept = [...entries].slice(-MOST_FILES)
  const temporary = join(folder, temporaryName())
  try {
    const handle = await open(temporary, 'wx', 0o600)
    try {
      await handle.writeFile(seal(JSON.stringify({ lake, files: Object.fromEntries(kept) })))
    } finally {
      await handle.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await tidy(folder)
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
        // What another process has learned meanwhile stays.
        else await write(path, lake, new Map([...(await read(path)), ...learned]))
      } catch {
        // Hashed again next time.
      }
    },
  }
}
