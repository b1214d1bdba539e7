/**
 * A lake's id: random, made before its first snapshot and never changed, so that a target can tell one lake from another
 * one in the same place. Of several that make it at once one does.
 */

import { ToolkitError } from '../../core/errors.ts'
import { LAKE_ID_PATH } from '../../lake/files/layout.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { seal, unseal } from '../../support/hash.ts'
import { fits, form, shapeOf } from '../../support/json-form.ts'
import type { RandomBytes } from '../../support/run-ids.ts'
import type { Findings } from '../form/problems.ts'

const ID_BYTES = 16
const ID = shapeOf<{ readonly id: string }>({
  id: form(
    (value): value is string => typeof value === 'string' && /^[0-9a-f]{32}$/.test(value),
    '32 hexadecimal digits',
  ),
})

const textOf = (id: string): string => `${seal(JSON.stringify({ id }))}\n`

/** The id that bytes hold; `undefined` where they are not what was written. */
const idIn = (bytes: Buffer): string | undefined => {
  const read = unseal(bytes)
  const id = read.kind === 'sealed' && fits(ID, read.value) ? read.value.id : undefined
  return id !== undefined && bytes.toString('utf8') === textOf(id) ? id : undefined
}

/** The id of a lake; `null` where none was given yet. @throws {ToolkitError} `LAKE_DAMAGED` */
export const readLakeId = async (lake: string): Promise<string | null> => {
  const bytes = await storageOf(lake).read(LAKE_ID_PATH)
  const id = bytes && idIn(bytes)
  if (id !== undefined) return id
  throw new ToolkitError(
    'LAKE_DAMAGED',
    `Cannot read "${LAKE_ID_PATH}" of lake "${lake}": its hash does not match; restore it from a backup, or delete it (its targets then need --adopt)`,
    { lake, path: LAKE_ID_PATH },
  )
}

/** The id of a lake, which gets one where it has none. @throws {ToolkitError} `LAKE_DAMAGED`, `WRITE_FAILED`, `DISK_FULL` */
export const ensureLakeId = async (lake: string, random: RandomBytes, syncsName = true): Promise<string> => {
  const found = await readLakeId(lake)
  if (found !== null) return found
  const id = Buffer.from(random(ID_BYTES)).toString('hex')
  if (await storageOf(lake).create(LAKE_ID_PATH, textOf(id), syncsName)) return id
  return (await readLakeId(lake)) ?? id
}

/** Gives a copy the id of its lake. @throws {ToolkitError} `USAGE` where the copy has one of its own */
export const copyLakeId = async (to: string, id: string): Promise<void> => {
  await storageOf(to).create(LAKE_ID_PATH, textOf(id))
  const found = await readLakeId(to)
  if (found === id) return
  throw new ToolkitError(
    'USAGE',
    `Cannot copy to "${to}" as the same lake: the copy has an id of its own; copy without --same-lake, or to another place`,
    { to },
  )
}

/** Reports damage of a lake's id, which is there before the first snapshot. */
export const verifyLakeId = async (lake: string, findings: Findings): Promise<void> => {
  const path = LAKE_ID_PATH
  let bytes: Buffer | null
  try {
    bytes = await storageOf(lake).read(path)
  } catch (error) {
    if (error instanceof ToolkitError) throw error
    findings.add(path, 'unreadable', 'the file cannot be read')
    return
  }
  if (bytes === null)
    findings.add(
      path,
      'missing',
      'the file is missing; the next commit or delivery gives the lake another id',
    )
  else if (idIn(bytes) === undefined)
    findings.add(path, bytes.length === 0 ? 'cut' : 'changed', 'it does not match the hash in it')
}
