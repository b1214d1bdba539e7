/** Whether what targets show is a lake's: asks each as a delivery would, and changes none. */

import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ErrorCode, ToolkitError } from '../core/errors.ts'
import { PUBLISHED_ROWS } from '../core/table-formats.ts'
import { Engine } from '../lake/duckdb/engine.ts'
import { readLakeId } from '../manifest/snapshots/lake-id.ts'
import { isOwnSnapshot } from '../manifest/snapshots/lake-past.ts'
import type { SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import { newestRoot, newestSnapshot } from '../manifest/snapshots/snapshots.ts'
import type { UpdateTargetsOptions } from '../options/interfaces.ts'
import { publishedTables } from '../publish/table-files.ts'
import { removeIfThere } from '../support/durable-files.ts'
import { temporaryName } from '../support/process-identity.ts'
import { lackingOf, type RunToDeliver, runsOf } from './deliver.ts'
import { lostRuns } from './lost-runs.ts'
import { openSinks, redacted } from './open-sink.ts'
import { FORMATS, publishedFormats, tableAhead } from './table-formats.ts'

/** The state of a target beside its lake. */
export interface ComparedTarget {
  /** The target's address, without a password, or format and rows of published tables. */
  readonly target: string
  /** `refused`: a delivery, or a publication, would end with this error. */
  readonly state: 'current' | 'behind' | 'refused'
  readonly code?: ErrorCode
  readonly detail?: string
}

export type CompareRequest = Pick<UpdateTargetsOptions, 'lake' | 'sinks' | 'catalog' | 'signal'>

/** @throws whatever no delivery would be refused for */
const orRefused = async (target: string, compare: () => Promise<boolean>): Promise<ComparedTarget> => {
  try {
    return { target, state: (await compare()) ? 'current' : 'behind' }
  } catch (error) {
    if (!(error instanceof ToolkitError) || error.code === 'INTERRUPTED') throw error
    return { target, state: 'refused', code: error.code, detail: error.message }
  }
}

const compareSinks = async (
  { lake, sinks = [], signal }: CompareRequest,
  runs: readonly RunToDeliver[],
): Promise<readonly ComparedTarget[]> => {
  const id = await readLakeId(lake)
  const claim = { lake: id, adopt: false, marks: false, lost: lostRuns(lake, id) }
  const compared: ComparedTarget[] = []
  for (const sink of sinks) {
    signal?.throwIfAborted()
    const staging = join(tmpdir(), temporaryName())
    const target = typeof sink === 'string' ? redacted(sink) : sink.name
    const isCurrent = async (): Promise<boolean> => {
      const [opened] = await openSinks([sink], lake)
      return opened === undefined || (await lackingOf(opened, runs, { claim, staging, signal })).length === 0
    }
    compared.push(await orRefused(target, isCurrent))
    await removeIfThere(staging)
  }
  return compared
}

const MEMORY_BYTES = 256 * 1024 ** 2

const comparePublished = async (
  { lake, catalog, signal }: CompareRequest,
  root: SnapshotRoot,
): Promise<readonly ComparedTarget[]> => {
  const scratch = join(tmpdir(), temporaryName())
  const engine = await Engine.open({ memoryBytes: MEMORY_BYTES })
  const compared: ComparedTarget[] = []
  try {
    const session = await engine.connect()
    for (const place of catalog === undefined ? [undefined] : [undefined, catalog])
      for (const rows of PUBLISHED_ROWS)
        for (const format of await publishedFormats(lake, rows, place)) {
          signal?.throwIfAborted()
          const { shown } = await FORMATS[format](rows, place)
          const isCurrent = async (): Promise<boolean> => {
            let newest = 0
            for (const table of publishedTables()) {
              const one = await shown({ lake, session, scratch, signal }, table)
              if (one && !(await isOwnSnapshot(lake, root, one))) throw tableAhead(format, table, one)
              newest = Math.max(newest, one?.snapshot ?? 0)
            }
            return newest === root.snapshot
          }
          compared.push(
            await orRefused(`${format} ${rows}${place === undefined ? '' : ' in the catalog'}`, isCurrent),
          )
        }
  } finally {
    engine.close()
    await removeIfThere(scratch)
  }
  return compared
}

/**
 * Compares what targets show with a lake: sinks by their runs and exports, tables that are published by the snapshot that
 * they show.
 *
 * @throws {ToolkitError} what reading the lake throws; a target that cannot be asked is `refused`
 */
export const compareTargets = async (request: CompareRequest): Promise<readonly ComparedTarget[]> => {
  const { lake } = request
  const snapshot = await newestSnapshot(lake)
  const sinks = await compareSinks(request, snapshot === null ? [] : runsOf(snapshot))
  const root = await newestRoot(lake)
  return root === null ? sinks : [...sinks, ...(await comparePublished(request, root))]
}
