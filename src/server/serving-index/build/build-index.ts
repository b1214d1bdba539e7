/**
 * Makes the serving index of a snapshot, in a temporary folder that is moved into place when all of it is on the disk: segments
 * of an earlier index that still hold, as links to their files, and one of all that is new. A maker that is killed leaves only a
 * folder that the next one removes.
 */

import { dirname, join } from 'node:path'
import { systemCode, ToolkitError, writeError } from '../../../core/errors.ts'
import { Engine, engineError } from '../../../lake/duckdb/engine.ts'
import { inLake, servePath } from '../../../lake/files/layout.ts'
import type { NamedFile } from '../../../manifest/form/file-list.ts'
import { latestInstant } from '../../../manifest/form/sources.ts'
import { fsyncFolder, makeFolder, removeIfThere } from '../../../support/durable-files.ts'
import { adoptFiles, refuseLinks } from '../../../support/file-modes.ts'
import { removeLeftovers } from '../../../support/list-files.ts'
import { temporaryName } from '../../../support/process-identity.ts'
import { embedderFacts } from '../../ranking/embedder.ts'
import { type ExpectedIndex, earlierIndexes, findServingIndex, publishIndex } from '../index-folder.ts'
import {
  INDEX_CONTRACT,
  INDEX_VERSION,
  type IndexDescription,
  type SegmentDescription,
} from '../index-form.ts'
import { attachSegments } from '../segment-views.ts'
import type { BuildIndexRequest } from './build-request.ts'
import { makeSegment } from './make-segment.ts'
import { useSegments } from './plan-segments.ts'

/** Default folder of the index of a snapshot. */
export const indexFolder = (lake: string, snapshot: number): string => inLake(lake, servePath(snapshot))

/**
 * Makes an index, or finds the one that another process has made meanwhile.
 *
 * @throws {ToolkitError} DISK_FULL, WRITE_FAILED; EMBEDDER_FAILED; ENGINE_FAILED where the lake cannot be read;
 *   INDEX_UNUSABLE where the folder holds something else. The signal's reason when it is aborted. Nothing is left then.
 */
export const buildIndex = async (request: BuildIndexRequest): Promise<IndexDescription> => {
  const { lake, snapshot, embedder, signal } = request
  const folder = request.folder ?? indexFolder(lake, snapshot.snapshot)
  const expected: ExpectedIndex = {
    snapshot: snapshot.snapshot,
    snapshotSha256: request.snapshotSha256,
    embedder: embedderFacts(embedder),
  }
  const building = join(dirname(folder), temporaryName())
  try {
    signal?.throwIfAborted()
    const within = request.folder === undefined ? inLake(lake, '') : dirname(folder)
    await refuseLinks(within, folder)
    const there = await findServingIndex(folder, expected)
    if (there !== null) return there
    await makeFolder(dirname(folder), { within })
    await removeLeftovers(dirname(folder))
    await makeFolder(building, { within })
    const { description, files } = await build(request, expected, building, folder)
    signal?.throwIfAborted()
    return await publishIndex(building, folder, description, files)
  } catch (error) {
    signal?.throwIfAborted()
    throw makingError(folder, error)
  } finally {
    await removeIfThere(building)
  }
}

const build = async (
  request: BuildIndexRequest,
  expected: ExpectedIndex,
  building: string,
  folder: string,
): Promise<{ readonly description: IndexDescription; readonly files: readonly NamedFile[] }> => {
  const { snapshot, signal } = request
  const used = await useSegments(await earlierIndexes(dirname(folder), expected), snapshot, building, signal)
  const files = [...used.files]
  const segments = [...used.segments]
  const behind = snapshot.partitions.slice(segments.reduce((total, { partitions }) => total + partitions, 0))
  if (behind.length > 0 || segments.length === 0) {
    const made = await makeSegment(request, building, behind, expected)
    segments.push(made.segment)
    files.push(...made.files)
  }
  await adoptFiles(building)
  await fsyncFolder(building)
  return {
    description: {
      version: INDEX_VERSION,
      contract: INDEX_CONTRACT,
      ...expected,
      snapshotTime: snapshot.time,
      snapshotAsOf: latestInstant(snapshot.partitions),
      records: await countRecords(request, building, segments),
      segments,
    },
    files,
  }
}

/** The current records of several segments. */
const countRecords = async (
  { memoryBytes, threads }: BuildIndexRequest,
  folder: string,
  segments: readonly SegmentDescription[],
): Promise<IndexDescription['records']> => {
  const [only] = segments
  if (segments.length === 1 && only !== undefined) return only.records
  const engine = await Engine.open({ memoryBytes, ...(threads !== undefined && { threads }) })
  try {
    const session = await engine.connect()
    await attachSegments(session, folder, segments)
    const [counted] = await session.rows(
      'SELECT (SELECT count(*) FROM serving.company) AS companies, (SELECT count(*) FROM serving.relation) AS relations',
    )
    return { companies: Number(counted?.companies), relations: Number(counted?.relations) }
  } finally {
    engine.close()
  }
}

const makingError = (folder: string, error: unknown): ToolkitError => {
  const action = `Cannot make serving index "${folder}"`
  const failure = systemCode(error) === undefined ? engineError(action, error) : writeError(action, error)
  if (failure instanceof ToolkitError) return failure
  const reason = error instanceof Error ? error.message : String(error)
  return new ToolkitError('ENGINE_FAILED', `${action}: ${reason}`, { folder }, error)
}
