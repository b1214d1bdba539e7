/** Makes one segment of an index: documents and figures, then the other tables of the DuckDB file. */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { CommittedPartition, Snapshot } from '../../../core/partition.ts'
import { dictionaryOf } from '../../../lake/tables/dictionary-of.ts'
import { LISTINGS } from '../../../lake/tables/tables.ts'
import type { NamedFile } from '../../../manifest/form/file-list.ts'
import { fsyncFile, makeFolder } from '../../../support/durable-files.ts'
import { hashFile } from '../../../support/hash.ts'
import type { ExpectedIndex } from '../index-folder.ts'
import { type SegmentDescription, searchFile } from '../index-form.ts'
import type { BuildIndexRequest } from './build-request.ts'
import { FigureFile } from './figure-file.ts'
import { segmentName } from './plan-segments.ts'
import { readCurrent } from './read-current.ts'
import { writeDocuments } from './write-documents.ts'
import { writeSearchFile } from './write-search-file.ts'

export interface MadeSegment {
  readonly segment: SegmentDescription
  readonly files: readonly NamedFile[]
}

/** DuckDB's part of the memory for the tables: it fills all it is given, and the step before leaves some in use. */
const TABLES_SHARE = 0.6

/** A database takes some thirty blocks at least: with small ones the segment of a night is small. Of many records they take twice the room. */
const blockBytes = (partitions: readonly CommittedPartition[]): number =>
  partitions.reduce((sum, { counts }) => sum + counts.records, 0) < 2_000 ? 16_384 : 262_144

/** @param partitions consecutive ones of the snapshot */
export const makeSegment = async (
  request: BuildIndexRequest,
  building: string,
  partitions: readonly CommittedPartition[],
  { embedder: { name: embedderName, dimensions } }: Pick<ExpectedIndex, 'embedder'>,
): Promise<MadeSegment> => {
  const { lake, memoryBytes, threads, embedder, signal, onProgress } = request
  const name = segmentName(partitions, { name: embedderName, dimensions })
  const dictionaries = new Set(partitions.map(({ run }) => dictionaryOf(request.snapshot.files, run)))
  const files = request.snapshot.files.filter((file) => dictionaries.has(file))
  const snapshot: Snapshot = { ...request.snapshot, partitions, files }
  // Everything that is not part of the index.
  const aside = join(building, 'aside')
  await makeFolder(aside)
  const path = join(building, searchFile(name))
  const reading = { lake, snapshot, memoryBytes, threads, spillFolder: join(aside, 'spill'), signal }
  const figures = new FigureFile(join(aside, 'figures'))
  try {
    // DuckDB reads beside this thread, which is busier: another one of its threads would but wait.
    const documents = await readCurrent({ ...reading, threads: 1 }, (_, restoring) =>
      writeDocuments(restoring, figures, { folder: building, aside, name }, (step, records) =>
        onProgress?.({ step, records }),
      ),
    )
    onProgress?.({ step: 'tables', records: 0 })
    // A new engine, because one that has worked keeps memory that the next step needs.
    const tables = { ...reading, memoryBytes: memoryBytes * TABLES_SHARE }
    await readCurrent(tables, (engine, giving) =>
      writeSearchFile({
        engine,
        giving,
        path,
        blockBytes: blockBytes(partitions),
        figures: figures.table(),
        places: documents.places,
        embedder,
        onEmbedded: (records) => onProgress?.({ step: 'embeddings', records }),
      }),
    )
    figures.close()
    await rm(aside, { recursive: true })
    await fsyncFile(path)
    const { companies, relations } = documents.records
    const { bytes, sha256 } = await hashFile(path, { signal })
    const unlisted = partitions.reduce((sum, { counts }) => sum + (counts.rows[LISTINGS.name] ?? 0), 0)
    return {
      segment: {
        ...{ name, partitions: partitions.length, records: { companies, relations } },
        ...(unlisted > 0 && { unlisted }),
      },
      files: [...documents.files, { name: searchFile(name), bytes, sha256 }],
    }
  } finally {
    figures.close()
  }
}
