/** Checks the folders that were made from snapshots, serving indexes and batch files, against the lists in them. */

import { inLake } from '../../lake/files/layout.ts'
import { statPath } from '../../support/list-files.ts'
import {
  checkNamedFile,
  type FileDamage,
  LIST_FILE,
  type NamedFile,
  readFileList,
} from '../form/file-list.ts'
import type { Problem } from '../form/findings.ts'
import { listMade } from './lake-files.ts'

/** A file that was made, in one folder or, shared by serving indexes, in several. */
export interface MadeFile {
  /** Paths below the lake's folder. */
  readonly folders: readonly string[]
  readonly file: NamedFile
}

export interface MadeFiles {
  readonly files: readonly MadeFile[]
  readonly problems: readonly Problem[]
}

/** What the lists say that there is. @param only of this snapshot */
export const madeFiles = async (lake: string, only: number | undefined): Promise<MadeFiles> => {
  const files = new Map<string, { readonly folders: string[]; readonly file: NamedFile }>()
  const problems: Problem[] = []
  for (const { path: folder, snapshot } of await listMade(lake)) {
    if (only !== undefined && snapshot !== only) continue
    const list = await readFileList(inLake(lake, folder))
    const path = `${folder}/${LIST_FILE}`
    if (list.kind === 'none') problems.push({ path, problem: 'missing', detail: 'the file is missing' })
    else if (list.kind !== 'list') problems.push({ path, problem: list.kind, detail: list.reason })
    else
      for (const file of list.files) {
        const found = await statPath(inLake(lake, `${folder}/${file.name}`))
        const key = JSON.stringify([found?.identity ?? folder, file.name, file.bytes, file.sha256])
        const known = files.get(key)
        if (known) known.folders.push(folder)
        else files.set(key, { folders: [folder], file })
      }
  }
  return { files: [...files.values()], problems }
}

/** Whether a folder's list still says the same of a file: it may have been removed or made again meanwhile. */
const isListed = async (lake: string, folder: string, file: NamedFile): Promise<boolean> => {
  const list = await readFileList(inLake(lake, folder))
  return (
    list.kind === 'list' && list.files.some((one) => one.name === file.name && one.sha256 === file.sha256)
  )
}

/** What is wrong with a file, in each folder that lists it. */
export const checkMadeFile = async (
  lake: string,
  { folders, file }: MadeFile,
  signal?: AbortSignal,
): Promise<readonly Problem[]> => {
  const problems: Problem[] = []
  let damage: FileDamage | null = null
  for (const folder of folders) {
    damage ??= await checkNamedFile(inLake(lake, folder), file, signal)
    if (damage === null) return []
    if (await isListed(lake, folder, file)) problems.push({ path: `${folder}/${file.name}`, ...damage })
    // It is gone under this name: what it is has to be seen under another one.
    else damage = null
  }
  return problems
}
