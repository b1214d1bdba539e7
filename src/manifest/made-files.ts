/** Checks the folders that were made from snapshots, serving indexes and batch files, against the lists in them. */

import { inLake } from '../lake/lake/layout.ts'
import { checkNamedFile, LIST_FILE, type NamedFile, readFileList } from './file-list.ts'
import type { Problem } from './findings.ts'
import { listMade } from './lake-files.ts'

/** A file of a folder that was made. */
export interface MadeFile {
  /** Of the folder, below the lake's. */
  readonly folder: string
  readonly file: NamedFile
}

export interface MadeFiles {
  readonly files: readonly MadeFile[]
  readonly problems: readonly Problem[]
  readonly notes: readonly string[]
}

/** What the lists say that there is. @param only of this snapshot */
export const madeFiles = async (lake: string, only: number | undefined): Promise<MadeFiles> => {
  const files: MadeFile[] = []
  const problems: Problem[] = []
  const notes: string[] = []
  for (const { path: folder, snapshot } of await listMade(lake)) {
    if (only !== undefined && snapshot !== only) continue
    const list = await readFileList(inLake(lake, folder))
    if (list.kind === 'list') files.push(...list.files.map((file) => ({ folder, file })))
    else if (list.kind === 'none')
      notes.push(`"${folder}" has no "${LIST_FILE}", so it cannot be checked: an earlier release made it`)
    else problems.push({ path: `${folder}/${LIST_FILE}`, problem: list.kind, detail: list.reason })
  }
  return { files, problems, notes }
}

/** Whether a folder's list still says the same of a file: it may have been removed or made again meanwhile. */
const isListed = async (lake: string, { folder, file }: MadeFile): Promise<boolean> => {
  const list = await readFileList(inLake(lake, folder))
  return (
    list.kind === 'list' && list.files.some((one) => one.name === file.name && one.sha256 === file.sha256)
  )
}

/** What is wrong with a file, or `null`. */
export const checkMadeFile = async (
  lake: string,
  made: MadeFile,
  signal?: AbortSignal,
): Promise<Problem | null> => {
  const { folder, file } = made
  const damage = await checkNamedFile(inLake(lake, folder), file, signal)
  if (damage === null || !(await isListed(lake, made))) return null
  return { path: `${folder}/${file.name}`, ...damage }
}
