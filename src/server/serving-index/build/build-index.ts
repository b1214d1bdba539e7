/**
 * Makes the serving index of a snapshot: documents, then the DuckDB file, in a temporary folder that is moved into
 * place when all of it is on the disk. A maker that is killed leaves only a folder that the next one removes.
 */

import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { systemCode, ToolkitError, writeError } from '../../../core/errors.ts'
import type { Snapshot } from '../../../core/partition.ts'
import { engineError } from '../../../lake/duckdb/engine.ts'
import { inLake, servePath } from '../../../lake/lake/layout.ts'
import type { NamedFile } from '../../../manifest/file-list.ts'
import { discard, fsyncFile, fsyncFolder, makeFolder } from '../../../support/durable-files.ts'
import { adoptFiles, refuseLinks } from '../../../support/file-modes.ts'
import { hashFile } from '../../../support/hash.ts'
import { temporaryName } from '../../../support/process-identity.ts'
import type { Embedder } from '../../ranking/embedder.ts'
import { type ExpectedIndex, findServingIndex, publishIndex, removeLeftovers } from '../index-folder.ts'
import { INDEX_CONTRACT, INDEX_VERSION, type IndexDescription, SEARCH_FILE } from '../index-form.ts'
import { readCurrent } from './read-current.ts'
import { writeDocuments } from './write-documents.ts'
import { writeSearchFile } from './write-search-file.ts'

export interface BuildIndexRequest {
  /** Folder of the lake. */
  readonly lake: string
  readonly snapshot: Snapshot
  /** SHA-256 of the snapshot's file. */
  readonly snapshotSha256: string
  /** Where the index is to stand. @default `_serve/<snapshot>` in the lake */
  readonly folder?: string | undefined
  /** DuckDB's memory in bytes; Node takes about 300 MiB beside it. */
  readonly memoryBytes: number
  /** @default 2 */
  readonly threads?: number | undefined
  readonly embedder: Embedder
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: IndexProgress) => void) | undefined
}

export interface IndexProgress {
  /**
   * What is being made: documents of a kind, the tables of the search file, or the vectors of the texts; or `check`: the
   * search file of an index that is opened is hashed.
   */
  readonly step: 'companies' | 'relations' | 'minified' | 'tables' | 'embeddings' | 'check'
  /** Records done so far in this step; 0 as long as `tables` and `check` take. */
  readonly records: number
}

/** Where the index of a snapshot stands by default. */
export const indexFolder = (lake: string, snapshot: number): string => inLake(lake, servePath(snapshot))

/**
 * Makes an index, or finds the one that another process has made meanwhile.
 *
 * @throws {ToolkitError} DISK_FULL, WRITE_FAILED; EMBEDDER_FAILED; ENGINE_FAILED where the lake cannot be read;
 *   COPY_UNUSABLE where the folder holds something else. The signal's reason when it is aborted. Nothing is left then.
 */
export const buildIndex = async (request: BuildIndexRequest): Promise<IndexDescription> => {
  const { lake, snapshot, embedder, signal } = request
  const folder = request.folder ?? indexFolder(lake, snapshot.snapshot)
  const expected: ExpectedIndex = {
    snapshot: snapshot.snapshot,
    snapshotSha256: request.snapshotSha256,
    embedder: { name: embedder.name, dimensions: embedder.dimensions },
  }
  const building = join(dirname(folder), temporaryName())
  try {
    signal?.throwIfAborted()
    const within = request.folder === undefined ? inLake(lake, '') : dirname(folder)
    await refuseLinks(within, folder)
    const there = await findServingIndex(folder, expected)
    if (there !== null) return there
    await makeFolder(dirname(folder), { within })
    await removeLeftovers(folder)
    await makeFolder(building, { within })
    const { description, files } = await build(request, expected, building)
    signal?.throwIfAborted()
    return await publishIndex(building, folder, description, files)
  } catch (error) {
    signal?.throwIfAborted()
    throw makingError(folder, error)
  } finally {
    await discard(building)
  }
}

const build = async (
  request: BuildIndexRequest,
  expected: ExpectedIndex,
  building: string,
): Promise<{ readonly description: IndexDescription; readonly files: readonly NamedFile[] }> => {
  const { lake, snapshot, memoryBytes, threads, embedder, signal, onProgress } = request
  // Everything that is not part of the index.
  const aside = join(building, 'aside')
  await makeFolder(aside)
  const path = join(building, SEARCH_FILE)
  const reading = { lake, snapshot, memoryBytes, threads, spillFolder: join(aside, 'spill'), signal }
  const documents = await readCurrent(reading, (_, giving) =>
    writeDocuments(giving, { folder: building, aside }, (step, records) => onProgress?.({ step, records })),
  )
  onProgress?.({ step: 'tables', records: 0 })
  // A new engine, because one that has worked keeps memory that the next step needs.
  const tables = { ...reading, memoryBytes: memoryBytes * TABLES_SHARE }
  await readCurrent(tables, (engine, giving) =>
    writeSearchFile({
      engine,
      giving,
      path,
      scratch: join(aside, 'scratch.duckdb'),
      places: documents.places,
      embedder,
      onEmbedded: (records) => onProgress?.({ step: 'embeddings', records }),
    }),
  )
  await rm(aside, { recursive: true })
  await adoptFiles(building)
  await fsyncFile(path)
  await fsyncFolder(building)
  const { companies, relations } = documents.records
  const { bytes, sha256 } = await hashFile(path, { signal })
  return {
    description: {
      version: INDEX_VERSION,
      contract: INDEX_CONTRACT,
      ...expected,
      snapshotTime: snapshot.time,
      records: { companies, relations },
    },
    files: [...documents.files, { name: SEARCH_FILE, bytes, sha256 }],
  }
}

/** DuckDB's part of the memory for the tables: it fills all it is given, and the step before leaves some in use. */
const TABLES_SHARE = 0.6

const makingError = (folder: string, error: unknown): ToolkitError => {
  const action = `Cannot make serving index "${folder}"`
  const failure = systemCode(error) === undefined ? engineError(action, error) : writeError(action, error)
  if (failure instanceof ToolkitError) return failure
  const reason = error instanceof Error ? error.message : String(error)
  return new ToolkitError('ENGINE_FAILED', `${action}: ${reason}`, { folder }, error)
}
