/** Fills the DuckDB file of a serving index, table by table, in the memory that its engine has. */

import { ToolkitError } from '../../../core/errors.ts'
import type { Engine } from '../../../lake/duckdb/engine.ts'
import { literal } from '../../../lake/duckdb/sql.ts'
import type { SessionRequest } from '../../../load/restore/slices.ts'
import type { Embedder } from '../../ranking/embedder.ts'
import { embeddingTexts } from '../../ranking/terms.ts'
import { fillFigures } from './figure-table.ts'
import {
  CURRENT,
  insertCompanies,
  insertPersons,
  insertPostings,
  insertRelations,
  makeTables,
  type PlacesOf,
} from './search-tables.ts'

export interface SearchFileRequest {
  readonly engine: Engine
  /** What to read, in the session where the current views stand. */
  readonly giving: SessionRequest
  /** The file to make. */
  readonly path: string
  /** A file for what is put aside meanwhile. */
  readonly scratch: string
  readonly places: PlacesOf
  readonly embedder: Embedder
  readonly onEmbedded: (companies: number) => void
}

/** Texts that an embedder gets at once: as much as its service takes in one request, and less than a chunk of DuckDB's. */
const TEXTS_AT_ONCE = 256

export const writeSearchFile = async (request: SearchFileRequest): Promise<void> => {
  const { giving, path, scratch, places, embedder } = request
  const { session, signal } = giving
  const runAll = async (statements: readonly string[]): Promise<void> => {
    for (const statement of statements) {
      signal?.throwIfAborted()
      await session.run(statement)
    }
  }
  await runAll([
    `ATTACH ${literal(path)} AS copy`,
    `ATTACH ${literal(scratch)} AS scratch`,
    ...makeTables(embedder.dimensions),
    insertPostings(),
    insertCompanies(places),
    insertRelations(places),
    insertPersons(),
  ])
  await fillFigures(giving)
  await writeEmbeddings(request)
  await runAll(['CHECKPOINT copy', 'DETACH copy', 'DETACH scratch'])
}

const writeEmbeddings = async (request: SearchFileRequest): Promise<void> => {
  const { engine, giving, embedder, onEmbedded } = request
  const { session, signal } = giving
  // A session that streams can do nothing else meanwhile.
  const reading = await engine.connect()
  try {
    let done = 0
    const sql = `SELECT internal_id, text FROM (${embeddingTexts(CURRENT.companies)}) ORDER BY internal_id`
    await session.run('BEGIN')
    for await (const [ids = [], texts = []] of reading.streamColumns(sql)) {
      for (let at = 0; at < ids.length; at += TEXTS_AT_ONCE) {
        signal?.throwIfAborted()
        const some = ids.slice(at, at + TEXTS_AT_ONCE).map((id) => BigInt(String(id)))
        const read = texts.slice(at, at + TEXTS_AT_ONCE).map(String)
        const vectors = await embedder.embed(read, signal)
        assertVectors(embedder, vectors, read.length)
        await session.appendVectors('copy', 'embedding', embedder.dimensions, { ids: some, vectors })
        done += some.length
        onEmbedded(done)
      }
    }
    await session.run('COMMIT')
  } finally {
    reading.close()
  }
}

/** DuckDB takes a chunk as it is given: what is not filled would be whatever stood in memory. */
const assertVectors = (
  { name, dimensions }: Embedder,
  vectors: readonly Float32Array[],
  expected: number,
): void => {
  const wrong = vectors.find(({ length }) => length !== dimensions)
  if (vectors.length === expected && wrong === undefined) return
  const state =
    wrong === undefined
      ? `it gave ${vectors.length} vectors, expected ${expected}`
      : `it gave a vector of ${wrong.length} dimensions, expected ${dimensions}`
  throw new ToolkitError('EMBEDDER_FAILED', `Cannot embed with "${name}": ${state}`, { embedder: name })
}
