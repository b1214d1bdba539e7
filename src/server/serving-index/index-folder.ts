/** The folder of a serving index: its description, the proof that it is whole, and how a finished one comes into its place. */

import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { systemCode, ToolkitError } from '../../core/errors.ts'
import {
  checkNamedFile,
  LIST_FILE,
  type NamedFile,
  readFileList,
  writeFileList,
} from '../../manifest/form/file-list.ts'
import { createIfAbsent, fsyncFolder } from '../../support/durable-files.ts'
import { PRIVATE_FILE } from '../../support/file-modes.ts'
import { sha256Of } from '../../support/hash.ts'
import { anyText, finiteNumber, fits, isObject, objectOf, valuesOf } from '../../support/json-form.ts'
import { listFolder, statPath } from '../../support/list-files.ts'
import { temporaryLiveness, temporaryName } from '../../support/process-identity.ts'
import {
  DESCRIPTION_FILE,
  INDEX_CONTRACT,
  INDEX_VERSION,
  type IndexDescription,
  isSearchFile,
} from './index-form.ts'

/** Properties an index must have to be used in place of a new one. */
export type ExpectedIndex = Pick<IndexDescription, 'snapshot' | 'snapshotSha256' | 'embedder'>

const DESCRIPTION = objectOf({
  ...{
    version: finiteNumber,
    contract: anyText,
    snapshot: finiteNumber,
    snapshotTime: anyText,
    snapshotAsOf: anyText,
    snapshotSha256: anyText,
  },
  records: valuesOf(finiteNumber),
  embedder: objectOf({ name: anyText, dimensions: finiteNumber }),
})
const isDescription = (value: unknown): value is IndexDescription => fits(DESCRIPTION, value)

export const indexUnusable = (folder: string, state: string, cause?: unknown): ToolkitError =>
  new ToolkitError('INDEX_UNUSABLE', `Cannot use serving index "${folder}": ${state}`, { folder }, cause)

/** Says that a document was found damaged, so that the next start makes the index again. */
const DAMAGED_FILE = 'damaged.txt'

/** Marks an index as damaged, where its folder can be written. */
export const markDamaged = async (folder: string, reason: string): Promise<void> => {
  await writeFile(join(folder, DAMAGED_FILE), `${reason}\n`, { mode: PRIVATE_FILE }).catch(() => undefined)
}

/** The description found in a folder of an index: of this form, or of another one that has only a name. */
type FoundIndex = IndexDescription | { readonly otherForm: string }

const formOf = (version: unknown, contract: unknown): string =>
  `${version}${typeof contract === 'string' ? `-${contract.slice(0, 8)}` : ''}`

/** An index of whatever form; `null` where there is no folder. @throws {ToolkitError} INDEX_UNUSABLE */
const readDescription = async (folder: string): Promise<FoundIndex | null> => {
  let text: string
  try {
    text = await readFile(join(folder, DESCRIPTION_FILE), 'utf8')
  } catch (error) {
    if (systemCode(error) === 'ENOENT' && (await statPath(folder)) === null) return null
    throw indexUnusable(folder, `it has no readable "${DESCRIPTION_FILE}"`, error)
  }
  const value = parse(text)
  if (isObject(value) && typeof value.version === 'number') {
    const { version, contract } = value
    if (version !== INDEX_VERSION || contract !== INDEX_CONTRACT)
      return { otherForm: formOf(version, contract) }
  }
  if (!isDescription(value)) throw indexUnusable(folder, `"${DESCRIPTION_FILE}" is not one of ours`)
  const reason = await readFile(join(folder, DAMAGED_FILE), 'utf8').catch(() => null)
  if (reason !== null) throw indexUnusable(folder, `it was found damaged: ${reason.trim()}`)
  return value
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Documents are checked one by one when they are read: of their files the length has to do. */
const isHashedWhenOpened = (name: string): boolean => name === DESCRIPTION_FILE || isSearchFile(name)

const damageOfIndex = async (folder: string, file: NamedFile): Promise<string | null> => {
  const { name, bytes } = file
  if (isHashedWhenOpened(name)) {
    const damage = await checkNamedFile(folder, file)
    return damage && `"${name}" is damaged: ${damage.detail}`
  }
  const found = await statPath(join(folder, name))
  if (found?.kind !== 'file') return `"${name}" is missing`
  return found.bytes === bytes ? null : `"${name}" has ${found.bytes} bytes, expected ${bytes}`
}

/** The description of an index that is whole and of this form. @throws {ToolkitError} INDEX_UNUSABLE */
export const readWholeIndex = async (folder: string): Promise<IndexDescription> => {
  const description = await readDescription(folder)
  if (description === null) throw indexUnusable(folder, 'there is none')
  if ('otherForm' in description) {
    const expected = formOf(INDEX_VERSION, INDEX_CONTRACT)
    throw indexUnusable(folder, `it is of version ${description.otherForm}, expected ${expected}`)
  }
  const listed = await readFileList(folder)
  if (listed.kind !== 'list')
    throw indexUnusable(
      folder,
      `"${LIST_FILE}" ${listed.kind === 'none' ? 'is missing' : `is damaged: ${listed.reason}`}`,
    )
  for (const file of listed.files) {
    const damage = await damageOfIndex(folder, file)
    if (damage !== null) throw indexUnusable(folder, damage)
  }
  return description
}

/** The index in a folder, if it is what is expected; `null` where there is none or another one. */
export const findServingIndex = async (
  folder: string,
  expected: ExpectedIndex,
): Promise<IndexDescription | null> => {
  const description = await readDescription(folder)
  const { snapshot, snapshotSha256, embedder } = expected
  return description !== null &&
    !('otherForm' in description) &&
    description.snapshot === snapshot &&
    description.snapshotSha256 === snapshotSha256 &&
    description.embedder.name === embedder.name &&
    description.embedder.dimensions === embedder.dimensions
    ? description
    : null
}

/** Indexes in a folder of which segments may be used: of this form and embedder, and not found damaged. */
export const earlierIndexes = async (
  parent: string,
  { embedder }: Pick<ExpectedIndex, 'embedder'>,
): Promise<readonly { readonly folder: string; readonly description: IndexDescription }[]> => {
  const found: { folder: string; description: IndexDescription }[] = []
  for (const entry of await listFolder(parent)) {
    if (!entry.isDirectory() || temporaryLiveness(entry.name) !== null) continue
    const folder = join(parent, entry.name)
    const description = await readDescription(folder).catch(() => null)
    if (description === null || 'otherForm' in description) continue
    const { name, dimensions } = description.embedder
    if (name === embedder.name && dimensions === embedder.dimensions) found.push({ folder, description })
  }
  return found
}

/**
 * Writes the description and the list into a folder whose files are on the disk, and moves it into its place. Where another
 * maker was first, its index stays; an index of something else is removed.
 *
 * @returns the index that is in place then
 */
export const publishIndex = async (
  building: string,
  folder: string,
  description: IndexDescription,
  files: readonly NamedFile[],
): Promise<IndexDescription> => {
  const text = `${JSON.stringify(description, null, 2)}\n`
  await createIfAbsent(join(building, DESCRIPTION_FILE), text)
  const self = { name: DESCRIPTION_FILE, bytes: Buffer.byteLength(text), sha256: sha256Of(text) }
  await writeFileList(building, [...files, self])
  for (;;) {
    try {
      await rename(building, folder)
      await fsyncFolder(dirname(folder))
      return description
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST'].includes(systemCode(error) ?? '')) throw error
    }
    const there = await findServingIndex(folder, description)
    if (there !== null) return there
    await removeIndex(folder)
  }
}

/** In one step for whoever looks: an open server keeps its files. */
export const removeIndex = async (folder: string): Promise<void> => {
  const aside = join(dirname(folder), temporaryName())
  try {
    await rename(folder, aside)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error // another process has removed it
  }
  await rm(aside, { recursive: true, force: true })
}
