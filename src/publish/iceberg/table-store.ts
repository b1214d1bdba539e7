/**
 * Store of a table's metadata: in the lake itself, or by a catalog.
 *
 * In the lake it is numbered as Hadoop's tables are: `v1.metadata.json`, and `version-hint.text` with the highest
 * number. A number is made only if it is not there: of two that publish at once one is first.
 */

import { randomUUID } from 'node:crypto'
import type { PublishedRows } from '../../core/table-formats.ts'
import type { Table } from '../../lake/tables/tables.ts'
import type { Storage } from '../../storage/storage.ts'
import {
  absolutePath,
  currentLayout,
  historyLayout,
  metadataFolder,
  pathInLake,
  type TableLayout,
} from './table-layout.ts'
import {
  applyChange,
  conflict,
  METADATA_LOG_LENGTH,
  ownMetadata,
  type TableMetadata,
  type TableUpdate,
} from './table-metadata.ts'

/** A table as it was found, for a change to be made on top of it. */
export interface TableBase {
  /** `null` of a table that is to be made. */
  readonly metadata: TableMetadata | null
  /** Number of the metadata file that was found, 0 where there is none. */
  readonly number: number
  /** Whether a table is to be made again because the one found was published where the lake stood before. */
  readonly moved: boolean
}

export type TableCommitOutcome =
  | { readonly kind: 'committed'; readonly base: TableBase }
  /** Someone else changed the table first, and it stands there now. */
  | { readonly kind: 'lost'; readonly base: TableBase }

export interface TableStore {
  /** The location that a table has, or would have. */
  readonly layoutOf: (table: Table, rows: PublishedRows) => TableLayout
  /** Whether it has the table, for this lake. */
  readonly has: (layout: TableLayout) => Promise<boolean>
  /** As `open`, and writes nothing. */
  readonly read: (layout: TableLayout) => Promise<TableBase>
  /** @throws {ToolkitError} `PUBLISH_CONFLICT` where someone else has made or changed the table */
  readonly open: (layout: TableLayout) => Promise<TableBase>
  /** Takes a table away from where others find it; absent where its files are all there is of it. */
  readonly drop?: (layout: TableLayout) => Promise<void>
  /** Makes a change visible, all of it or nothing. */
  readonly commit: (layout: TableLayout, base: TableBase, change: TableUpdate) => Promise<TableCommitOutcome>
}

const NAME = /^v(\d+)((?:\.gz)?\.metadata\.json(?:\.gz)?)$/
const SUFFIX = '.metadata.json'

const metadataPath = (root: string, number: number): string => `${metadataFolder(root)}/v${number}${SUFFIX}`
const hintPath = (root: string): string => `${metadataFolder(root)}/version-hint.text`

/** The highest metadata file of a table. */
const newestNumber = async (storage: Storage, root: string): Promise<number> => {
  const folder = metadataFolder(root)
  let newest = 0
  for (const { path } of await storage.list(folder)) {
    const match = NAME.exec(path.slice(folder.length + 1))
    if (match === null) continue
    if (match[2] !== SUFFIX) throw conflict(root, `its metadata "${path}" was made by someone else`)
    newest = Math.max(newest, Number(match[1]))
  }
  return newest
}

const parseJson = (root: string, path: string, bytes: Buffer): unknown => {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch (error) {
    throw conflict(root, `its metadata "${path}" is no JSON: ${error instanceof Error ? error.message : ''}`)
  }
}

/** Readers look for higher numbers by themselves, or lag behind: a hint that was not written does no harm. */
const writeHint = async (storage: Storage, root: string, number: number): Promise<void> => {
  const hint = await storage.read(hintPath(root))
  if (hint?.toString('utf8') !== String(number)) await storage.replace(hintPath(root), String(number))
}

/** Without a write. */
const readTable = async (storage: Storage, layout: TableLayout): Promise<TableBase> => {
  const { root } = layout
  const number = await newestNumber(storage, root)
  const path = metadataPath(root, number)
  const bytes = number === 0 ? null : await storage.read(path)
  if (bytes === null) return { metadata: null, number, moved: false }
  const metadata = ownMetadata(layout, parseJson(root, path, bytes))
  if (metadata.location !== absolutePath(storage, root)) return { metadata: null, number, moved: true }
  return { metadata, number, moved: false }
}

const openTable = async (storage: Storage, layout: TableLayout): Promise<TableBase> => {
  const base = await readTable(storage, layout)
  if (base.metadata !== null) await writeHint(storage, layout.root, base.number)
  return base
}

export const folderStore = (storage: Storage): TableStore => ({
  layoutOf: (table, rows) => (rows === 'all' ? historyLayout(table) : currentLayout(table, 'lake')),

  has: async ({ root }) => (await newestNumber(storage, root)) > 0,

  read: (layout) => readTable(storage, layout),

  open: (layout) => openTable(storage, layout),

  commit: async (layout, base, change) => {
    const { root } = layout
    const number = base.number + 1
    const metadata = applyChange(layout, base.metadata, change, {
      uuid: randomUUID(),
      location: absolutePath(storage, root),
      previousFile: absolutePath(storage, metadataPath(root, base.number)),
    })
    if (!(await storage.create(metadataPath(root, number), JSON.stringify(metadata)))) {
      const found = await openTable(storage, layout)
      const id = change.snapshot['snapshot-id']
      // A bucket may refuse what it accepted before: the answer was lost on the way.
      const isOurs = found.metadata?.snapshots?.some((one) => one['snapshot-id'] === id)
      return { kind: isOurs ? 'committed' : 'lost', base: found }
    }
    await writeHint(storage, root, number)
    const log = base.metadata?.['metadata-log'] ?? []
    const forgotten = log.slice(0, Math.max(0, log.length + 1 - METADATA_LOG_LENGTH))
    await storage.remove(forgotten.flatMap((one) => pathInLake(storage, one['metadata-file']) ?? []))
    return { kind: 'committed', base: { metadata, number, moved: false } }
  },
})
