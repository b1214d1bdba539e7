/**
 * Folders for what DuckDB puts aside when it does not fit into memory: one for each engine, all below one folder of
 * the user among the temporary files. Their names tell the process, so that what a killed one left is known as such.
 */

import { rmSync } from 'node:fs'
import { lstat, mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemCode } from '../core/errors.ts'
import { listFolder } from '../support/list-files.ts'
import { temporaryLiveness, temporaryName } from '../support/process-identity.ts'

export interface SpillFolder {
  /** Absolute; DuckDB makes it when it needs it. */
  readonly path: string
  readonly remove: () => void
}

/** Makes the folder that only this user can use. @returns whether it is one: anybody could have made that name */
const ownFolder = async (folder: string, user: number | undefined): Promise<boolean> => {
  try {
    await mkdir(folder, { mode: 0o700 })
    return true
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') return false
  }
  const found = await lstat(folder).catch(() => null)
  return found?.isDirectory() === true && (user === undefined || found.uid === user)
}

const removeDead = async (folder: string): Promise<void> => {
  for (const { name } of await listFolder(folder))
    if (temporaryLiveness(name) === 'gone') await rm(join(folder, name), { recursive: true, force: true })
}

/** A folder of its own; what killed processes of this user left is removed. Fails never: DuckDB may not need it. */
export const newSpillFolder = async (temporary = tmpdir()): Promise<SpillFolder> => {
  const user = process.getuid?.()
  const above = join(temporary, user === undefined ? 'firmlake' : `firmlake-${user}`)
  const own = await ownFolder(above, user)
  if (own) await removeDead(above).catch(() => undefined)
  const path = join(own ? above : temporary, temporaryName())
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}
