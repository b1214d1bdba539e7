/** What stands where an upgrade may write, kept before it does; and all of it brought back as it was. */

import { ToolkitError } from '../../core/errors.ts'
import { LAKE_FILE, LAKE_FILE_RECORD, RATES_PATH } from '../../lake/lake/layout.ts'
import { PUBLISHED_FOLDER, PUBLISHED_IN_TABLE } from '../../lake/lake/published-hash.ts'
import { BEFORE_FOLDER, beforePath, type FileBefore } from '../../manifest/upgrade-state.ts'
import { publishedFolders } from '../../manifest/verify-published.ts'
import { storageOf } from '../../storage/open-storage.ts'
import type { StoredFile } from '../../storage/storage.ts'
import { sha256Of } from '../../support/hash.ts'
import { temporaryLiveness } from '../../support/process-identity.ts'

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** The files that an upgrade may write again or remove, and those that stand beside them. */
const standing = async (lake: string): Promise<readonly StoredFile[]> => {
  const storage = storageOf(lake)
  const single = await Promise.all([LAKE_FILE, LAKE_FILE_RECORD, RATES_PATH].map(storage.stat))
  const found = single.filter((one) => one !== null)
  for (const folder of await publishedFolders(lake)) found.push(...(await storage.list(folder)))
  return found.filter(({ path }) => temporaryLiveness(nameOf(path)) === null)
}

/** Whether a file is made once and stays: data of a published table. Of these only the names are kept. */
const isData = (path: string): boolean =>
  path.startsWith(`${PUBLISHED_FOLDER}/`) &&
  path.endsWith('.parquet') &&
  !PUBLISHED_IN_TABLE.some((folder) => path.includes(`/${folder}/`))

/** Copies what stands there. What an attempt before has copied is copied again. @throws {ToolkitError} `DISK_FULL`, … */
export const keepBefore = async (lake: string): Promise<readonly FileBefore[]> => {
  const storage = storageOf(lake)
  await storage.removeFolder(BEFORE_FOLDER)
  const kept: FileBefore[] = []
  for (const { path, bytes } of await standing(lake)) {
    if (isData(path)) {
      kept.push({ path, bytes })
      continue
    }
    const data = await storage.read(path)
    if (data === null) continue
    await storage.create(beforePath(path), data)
    kept.push({ path, bytes: data.length, sha256: sha256Of(data) })
  }
  return kept
}

const damaged = (lake: string, path: string, why: string): ToolkitError =>
  new ToolkitError('UPGRADE_STANDS', `Cannot take the upgrade of lake "${lake}" back: "${path}" ${why}`, {
    lake,
    path,
  })

const readBefore = async (lake: string, { path, sha256 }: FileBefore): Promise<Buffer> => {
  const bytes = await storageOf(lake).read(beforePath(path))
  if (bytes === null) throw damaged(lake, beforePath(path), 'is missing')
  if (sha256Of(bytes) !== sha256) throw damaged(lake, beforePath(path), 'is not what stood there before')
  return bytes
}

/** Looks whether all can be brought back. @throws {ToolkitError} `UPGRADE_STANDS` */
export const checkBefore = async (lake: string, files: readonly FileBefore[]): Promise<void> => {
  for (const file of files)
    if (file.sha256 !== undefined) await readBefore(lake, file)
    else if ((await storageOf(lake).stat(file.path)) === null)
      throw damaged(lake, file.path, 'was removed since, by gc')
}

/** Brings all back. May be called again after a crash. */
export const restoreBefore = async (lake: string, files: readonly FileBefore[]): Promise<void> => {
  const storage = storageOf(lake)
  for (const file of files) {
    if (file.sha256 === undefined) continue
    const now = await storage.read(file.path)
    if (now === null || sha256Of(now) !== file.sha256)
      await storage.replace(file.path, await readBefore(lake, file))
  }
  const before = new Set(files.map(({ path }) => path))
  const added = (await standing(lake)).map(({ path }) => path).filter((path) => !before.has(path))
  // Later versions first: at each moment what is left is whole.
  for (const path of added.sort().reverse()) await storage.remove([path])
}
