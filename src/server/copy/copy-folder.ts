/** The folder of a serving copy: its description, and how a finished one comes into its place. */

import { readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { systemCode, ToolkitError } from '../../core/errors.ts'
import { createIfAbsent, fsyncFolder } from '../../support/durable-files.ts'
import { listFolder, look } from '../../support/list-files.ts'
import { temporaryLiveness, temporaryName } from '../../support/process-identity.ts'
import { COPY_VERSION, type CopyDescription, DESCRIPTION_FILE } from './copy-form.ts'

/** What a copy has to be of, to be used in place of a new one. */
export type WantedCopy = Pick<CopyDescription, 'snapshot' | 'snapshotSha256' | 'embedder'>

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isNumbers = (value: unknown): value is Readonly<Record<string, number>> =>
  isMap(value) && Object.values(value).every((one) => typeof one === 'number')

const isDescription = (value: unknown): value is CopyDescription =>
  isMap(value) &&
  typeof value.version === 'number' &&
  typeof value.snapshot === 'number' &&
  typeof value.snapshotTime === 'string' &&
  typeof value.snapshotSha256 === 'string' &&
  isNumbers(value.records) &&
  isMap(value.embedder) &&
  typeof value.embedder.name === 'string' &&
  typeof value.embedder.dimensions === 'number' &&
  isNumbers(value.files)

export const copyUnusable = (folder: string, state: string, cause?: unknown): ToolkitError =>
  new ToolkitError('COPY_UNUSABLE', `Cannot use serving copy "${folder}": ${state}`, { folder }, cause)

/** A copy of whatever version; `null` where there is no folder. @throws {ToolkitError} COPY_UNUSABLE */
export const readDescription = async (
  folder: string,
): Promise<CopyDescription | { version: number } | null> => {
  let text: string
  try {
    text = await readFile(join(folder, DESCRIPTION_FILE), 'utf8')
  } catch (error) {
    if (systemCode(error) === 'ENOENT' && (await look(folder)) === null) return null
    throw copyUnusable(folder, `it has no readable "${DESCRIPTION_FILE}"`, error)
  }
  const value = parse(text)
  if (isMap(value) && typeof value.version === 'number' && value.version !== COPY_VERSION)
    return { version: value.version }
  if (!isDescription(value)) throw copyUnusable(folder, `"${DESCRIPTION_FILE}" is not one of ours`)
  return value
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The description of a copy that is whole and of this version. @throws {ToolkitError} COPY_UNUSABLE */
export const readWholeCopy = async (folder: string): Promise<CopyDescription> => {
  const description = await readDescription(folder)
  if (description === null) throw copyUnusable(folder, 'there is none')
  if (!('files' in description))
    throw copyUnusable(folder, `it is of version ${description.version}, expected ${COPY_VERSION}`)
  for (const [name, bytes] of Object.entries(description.files)) {
    const found = await look(join(folder, name))
    if (found?.kind !== 'file') throw copyUnusable(folder, `"${name}" is missing`)
    if (found.bytes !== bytes)
      throw copyUnusable(folder, `"${name}" has ${found.bytes} bytes, expected ${bytes}`)
  }
  return description
}

/** The copy in a folder, if it is what is wanted; `null` where there is none or another one. */
export const findCopy = async (folder: string, wanted: WantedCopy): Promise<CopyDescription | null> => {
  const description = await readDescription(folder)
  const { snapshot, snapshotSha256, embedder } = wanted
  return description !== null &&
    'files' in description &&
    description.snapshot === snapshot &&
    description.snapshotSha256 === snapshotSha256 &&
    description.embedder.name === embedder.name &&
    description.embedder.dimensions === embedder.dimensions
    ? description
    : null
}

/** Removes what killed makers left beside a copy's folder. */
export const removeLeftovers = async (folder: string): Promise<void> => {
  const parent = dirname(folder)
  for (const { name } of await listFolder(parent))
    if (temporaryLiveness(name) === 'gone') await rm(join(parent, name), { recursive: true, force: true })
}

/**
 * Writes the description into a folder whose files are on the disk, and moves it into its place. Where another
 * maker was first, its copy stays; a copy of something else is removed.
 *
 * @returns the copy that is in place then
 */
export const publishCopy = async (
  building: string,
  folder: string,
  description: CopyDescription,
): Promise<CopyDescription> => {
  await createIfAbsent(join(building, DESCRIPTION_FILE), `${JSON.stringify(description, null, 2)}\n`)
  for (;;) {
    try {
      await rename(building, folder)
      await fsyncFolder(dirname(folder))
      return description
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST'].includes(systemCode(error) ?? '')) throw error
    }
    const there = await findCopy(folder, description)
    if (there !== null) return there
    await removeCopy(folder)
  }
}

/** In one step for whoever looks: an open server keeps its files. */
const removeCopy = async (folder: string): Promise<void> => {
  const aside = join(dirname(folder), temporaryName())
  try {
    await rename(folder, aside)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error // another maker has removed it
  }
  await rm(aside, { recursive: true, force: true })
}
