/** Databases that are the same for many lakes, kept among this user's files so that no lake has to make them again. */

import { readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { sha256Of } from '../../support/hash.ts'
import { readCached, writeCached } from '../../support/user-cache.ts'
import { workBase } from '../../support/work-base.ts'

const HASH_CHARACTERS = 64
/** So many of an ending: lakes with further columns have their own. */
const MOST_KEPT = 4

/** The bytes after their hash; `undefined` where they are not those that were written. */
const unhashed = (text: Buffer | undefined): Buffer | undefined => {
  const bytes = text?.subarray(HASH_CHARACTERS)
  return bytes && sha256Of(bytes) === text?.toString('latin1', 0, HASH_CHARACTERS) ? bytes : undefined
}

const remember = async (path: string, bytes: Buffer): Promise<void> => {
  try {
    await writeCached(path, Buffer.concat([Buffer.from(sha256Of(bytes), 'latin1'), bytes]))
    const folder = dirname(path)
    const others = (await readdir(folder)).filter(
      (name) => extname(name) === extname(path) && name !== basename(path),
    )
    const aged = await Promise.all(
      others.map(async (name) => ({ name, writtenMs: (await stat(join(folder, name))).mtimeMs })),
    )
    const old = aged.sort((a, b) => b.writtenMs - a.writtenMs).slice(MOST_KEPT - 1)
    for (const { name } of old) await rm(join(folder, name), { force: true })
  } catch {
    // No home, or no room: they are made again for the next lake.
  }
}

/** @param name says what it is made of @param ending of its file: a few of each are kept */
export const keptDatabase = async (
  { name, ending }: { readonly name: string; readonly ending: string },
  make: () => Promise<Buffer>,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Buffer> => {
  const path = join(workBase(env), 'views', `${name.slice(0, 32)}${ending}`)
  const kept = unhashed(await readCached(path))
  if (kept !== undefined) return kept
  const bytes = await make()
  await remember(path, bytes)
  return bytes
}
