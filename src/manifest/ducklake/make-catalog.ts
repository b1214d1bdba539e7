/** Makes the bytes of a lake's DuckLake catalog: of the catalog before where that is of the same lake, else of an empty one. */

import { rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { ToolkitError } from '../../core/errors.ts'
import { type DatabaseForm, type MakeDatabase, SMALL_BLOCK_BYTES } from '../../lake/duckdb/database-files.ts'
import type { Session } from '../../lake/duckdb/engine.ts'
import { inLake, RUNS_FOLDER } from '../../lake/files/layout.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { temporaryName } from '../../support/process-identity.ts'
import { type ColumnsSince, columnsBySnapshot } from '../form/projections.ts'
import type { SnapshotRoot } from '../snapshots/snapshot-root.ts'
import { bringForward, type CatalogState, canContinue, readState } from './bring-forward.ts'
import { type FixedPart, fixedPart } from './fixed-part.ts'

/** Large blocks are read in fewer pieces: for many files, and over a network. */
const [LARGE_BLOCK_BYTES, MANY_FILES] = [262_144, 5_000]

/** Every release that has the extension reads it. Against the oldest form it is a third as large, and written in half the time. */
const formWith = (blockBytes: number): DatabaseForm => ({ version: 'v1.4.0', blockBytes })
const SMALL_FORM = formWith(SMALL_BLOCK_BYTES)
/** Part of the name of a kept empty catalog. */
export const CATALOG_FORM = JSON.stringify(SMALL_FORM)

export interface CatalogRequest {
  readonly lake: string
  readonly first: number
  readonly newest: SnapshotRoot
  /** Superseded rows of a table above which they move into files. @default as measured */
  readonly mostInlined?: number | undefined
  /** The catalog before, whole. */
  readonly before: Buffer | undefined
  /** Called where that holds anything but tables: it is not used. */
  readonly onUntrusted: () => void
  /** The bytes of an empty catalog, as `emptyCatalog` makes it. */
  readonly empty: () => Promise<Buffer>
}

/** The tables of a catalog and what is the same for all lakes. */
export const emptyCatalog = (make: MakeDatabase, history?: readonly ColumnsSince[]): Promise<Buffer> => {
  const { tables, rows } = fixedPart(history).statements()
  return make({
    form: SMALL_FORM,
    fill: async (session) => {
      for (const sql of [...tables, ...rows]) await session.run(sql)
    },
  })
}

/** The folder of a lake's files as other tools name it, with a slash at its end. */
const dataPath = (lake: string): string => {
  const { uri, local } = storageOf(lake)
  return `${uri.startsWith('file:') ? resolve(local) : uri}/`
}

/** Puts in the rows of this release. @returns the state, without what stood in the tables that were filled anew */
const refreshFixed = async (
  session: Session,
  { names, statements }: FixedPart,
  state: CatalogState,
): Promise<CatalogState> => {
  if (state.madeOf === names.madeOf) return state
  for (const sql of statements().rows) await session.run(sql)
  return state.shown === undefined ? {} : { shown: state.shown }
}

/** @returns the bytes. Where the catalog before cannot be continued, the footers of all files are read for it. */
export const makeCatalog = async (make: MakeDatabase, request: CatalogRequest): Promise<Buffer> => {
  const { lake, first, newest, before, mostInlined } = request
  const history = await columnsBySnapshot(newest, first)
  const fixed = fixedPart(history)
  const files = newest.totals.tables.reduce((sum, one) => sum + one.files, 0)
  const form = files > MANY_FILES || storageOf(lake).isRemote ? formWith(LARGE_BLOCK_BYTES) : SMALL_FORM
  const scratch = inLake(lake, `${RUNS_FOLDER}/${temporaryName()}`)
  const span = { lake, first, newest, dataPath: dataPath(lake), mostInlined }
  const fill = (session: Session, folder: string, state: CatalogState = {}): Promise<void> =>
    bringForward(session, { ...span, folders: { scratch, folder } }, state)
  try {
    if (before !== undefined) {
      const found = { isTrusted: false, isUsable: false }
      const bytes = await make({
        ...{ before, form, isUntrusted: true },
        fill: async (session, folder) => {
          found.isTrusted = true
          const state = await readState(session).catch(() => ({}) as CatalogState)
          found.isUsable = state.layout === fixed.names.layout && (await canContinue(state, span))
          if (found.isUsable) await fill(session, folder, await refreshFixed(session, fixed, state))
        },
      }).catch((error: unknown) => {
        // A damaged list of deletes is made again from the rows; a damaged file of the lake fails once more.
        if (found.isTrusted && !(error instanceof ToolkitError && error.code === 'LAKE_DAMAGED')) throw error
        if (!found.isTrusted) request.onUntrusted()
        return undefined
      })
      if (found.isUsable && bytes !== undefined) return bytes
    }
    const empty = history.some(({ computed }) => computed.length > 0)
      ? await emptyCatalog(make, history)
      : await request.empty()
    return await make({ before: empty, form, fill: (session, folder) => fill(session, folder) })
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}
