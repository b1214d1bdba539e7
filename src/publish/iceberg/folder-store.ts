/**
 * Tables whose metadata stands in the lake beside their files, numbered as Hadoop's tables are: `v1.metadata.json`,
 * and `version-hint.text` with the highest number. A number is made only if it is not there: of two that publish at
 * once one is first.
 */

import { randomUUID } from 'node:crypto'
import type { Table } from '../../lake/tables/tables.ts'
import type { Storage } from '../../storage/storage.ts'
import { absolutePath, metadataFolder, pathInLake } from './lake-paths.ts'
import { applyChange, conflict, METADATA_LOG_LENGTH, ownMetadata } from './table-metadata.ts'
import type { TableBase, TableStore } from './table-store.ts'

const NAME = /^v(\d+)((?:\.gz)?\.metadata\.json(?:\.gz)?)$/
const SUFFIX = '.metadata.json'

const metadataPath = (table: string, number: number): string => `${metadataFolder(table)}/v${number}${SUFFIX}`
const hintPath = (table: string): string => `${metadataFolder(table)}/version-hint.text`

/** The highest metadata file of a table. */
const newestNumber = async (storage: Storage, table: string): Promise<number> => {
  const folder = metadataFolder(table)
  let newest = 0
  for (const { path } of await storage.list(folder)) {
    const match = NAME.exec(path.slice(folder.length + 1))
    if (match === null) continue
    if (match[2] !== SUFFIX) throw conflict(table, `its metadata "${path}" was made by someone else`)
    newest = Math.max(newest, Number(match[1]))
  }
  return newest
}

const parseJson = (table: string, path: string, bytes: Buffer): unknown => {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch (error) {
    throw conflict(table, `its metadata "${path}" is no JSON: ${error instanceof Error ? error.message : ''}`)
  }
}

/** Readers look for higher numbers by themselves, or lag behind: a hint that was not written does no harm. */
const writeHint = async (storage: Storage, table: string, number: number): Promise<void> => {
  const hint = await storage.read(hintPath(table))
  if (hint?.toString('utf8') !== String(number)) await storage.replace(hintPath(table), String(number))
}

const openTable = async (storage: Storage, table: Table): Promise<TableBase> => {
  const number = await newestNumber(storage, table.name)
  const path = metadataPath(table.name, number)
  const bytes = number === 0 ? null : await storage.read(path)
  if (bytes === null) return { metadata: null, number, moved: false }
  const metadata = ownMetadata(table, parseJson(table.name, path, bytes))
  if (metadata.location !== absolutePath(storage, table.name)) return { metadata: null, number, moved: true }
  await writeHint(storage, table.name, number)
  return { metadata, number, moved: false }
}

export const folderStore = (storage: Storage): TableStore => ({
  has: async (table) => (await newestNumber(storage, table.name)) > 0,

  open: (table) => openTable(storage, table),

  commit: async (table, base, change) => {
    const number = base.number + 1
    const metadata = applyChange(table, base.metadata, change, {
      uuid: randomUUID(),
      location: absolutePath(storage, table.name),
      previousFile: absolutePath(storage, metadataPath(table.name, base.number)),
    })
    if (!(await storage.create(metadataPath(table.name, number), JSON.stringify(metadata)))) {
      const found = await openTable(storage, table)
      const id = change.snapshot['snapshot-id']
      // A bucket may refuse what it accepted before: the answer was lost on the way.
      const isOurs = found.metadata?.snapshots?.some((one) => one['snapshot-id'] === id)
      return { kind: isOurs ? 'committed' : 'lost', base: found }
    }
    await writeHint(storage, table.name, number)
    const log = base.metadata?.['metadata-log'] ?? []
    const forgotten = log.slice(0, Math.max(0, log.length + 1 - METADATA_LOG_LENGTH))
    await storage.remove(forgotten.flatMap((one) => pathInLake(storage, one['metadata-file']) ?? []))
    return { kind: 'committed', base: { metadata, number, moved: false } }
  },
})
