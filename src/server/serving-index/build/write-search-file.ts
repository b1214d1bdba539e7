/** Fills the DuckDB file of a segment, table by table, in the memory that its engine has. */

import { ToolkitError } from '../../../core/errors.ts'
import type { ColumnTable } from '../../../lake/duckdb/column-tables.ts'
import { attachDatabase } from '../../../lake/duckdb/database-files.ts'
import type { Engine, Session } from '../../../lake/duckdb/engine.ts'
import type { SessionRequest } from '../../../lake/slices/slices.ts'
import { LISTINGS } from '../../../lake/tables/tables.ts'
import { currentRows, goneFiles, readTable } from '../../../lake/views/current-versions.ts'
import { insertMarksBeyond } from '../../persons/find-marks.ts'
import type { Embedder } from '../../ranking/embedder.ts'
import { embeddingStrings } from '../../ranking/terms.ts'
import {
  CURRENT,
  insertCompanies,
  insertLatestSales,
  insertPersons,
  insertPostings,
  insertProtected,
  insertRelations,
  makeTables,
  makeUnlisted,
  type PlacesOf,
} from './search-tables.ts'

export interface SearchFileRequest {
  readonly engine: Engine
  /** The records to read, in the session that has the current views. */
  readonly giving: SessionRequest
  /** The file that is made. */
  readonly path: string
  readonly blockBytes: number
  /** The rows of `figure`, in their order. */
  readonly figures: ColumnTable
  readonly places: PlacesOf
  readonly embedder: Embedder | undefined
  readonly onEmbedded: (companies: number) => void
}

/** Texts that an embedder gets at once: as much as its service takes in one request. The vectors of a whole chunk are written. */
const STRINGS_AT_ONCE = 256

export const writeSearchFile = async (request: SearchFileRequest): Promise<void> => {
  const { giving, path, blockBytes } = request
  const attached = await attachDatabase(giving.session, path, 'segment', [`BLOCK_SIZE ${blockBytes}`])
  try {
    await fillSegment(request)
  } catch (error) {
    await attached.drop().catch(() => undefined)
    throw error
  }
  await attached.save()
}

const fillSegment = async (request: SearchFileRequest): Promise<void> => {
  const { engine, giving, figures, places, embedder } = request
  const { session, signal } = giving
  const runAll = async (statements: readonly string[]): Promise<void> => {
    for (const statement of statements) {
      signal?.throwIfAborted()
      await session.run(statement)
    }
  }
  await runAll(makeTables(embedder?.dimensions))
  await writeFigures(engine, session, figures)
  await runAll([
    insertPostings(),
    insertCompanies(places),
    insertLatestSales(),
    insertRelations(places),
    insertPersons(),
    insertProtected(),
  ])
  await insertMarksBeyond(session, 'relations', CURRENT.relations, 'segment.protected')
  await insertMarksBeyond(session, 'companies', CURRENT.companies, 'segment.protected_beside')
  if (embedder) await writeEmbeddings(request, embedder)
  const listings = goneFiles(giving.snapshot, giving.lake, LISTINGS.content)
  if (listings.length > 0)
    await runAll([makeUnlisted(currentRows(LISTINGS, readTable(LISTINGS, listings, 'with-version')))])
  await runAll(['CHECKPOINT segment'])
}

/** In one statement, because many leave behind what the next writes anew, a third of the file in the end. */
const writeFigures = async (engine: Engine, session: Session, figures: ColumnTable): Promise<void> => {
  const { from, remove } = await engine.addTable(figures)
  // This thread gives the rows: another one of DuckDB's would wait for them at full speed.
  const [threads] = await session.rows("SELECT current_setting('threads')::INTEGER AS number")
  try {
    await session.run('SET threads = 1')
    await session.run(
      `INSERT INTO segment.figure BY NAME SELECT * REPLACE (latest = 1 AS latest) FROM ${from}`,
    )
    await session.run(`SET threads = ${threads?.number}`)
  } finally {
    remove()
  }
}

const writeEmbeddings = async (request: SearchFileRequest, embedder: Embedder): Promise<void> => {
  const { engine, giving, onEmbedded } = request
  const { session, signal } = giving
  // A session that streams can do nothing else meanwhile.
  const reading = await engine.connect()
  try {
    let done = 0
    const sql = `SELECT internal_id, text FROM (${embeddingStrings(CURRENT.companies)}) ORDER BY internal_id`
    await session.run('BEGIN')
    for await (const [ids = [], strings = []] of reading.streamColumns(sql)) {
      const embedded: Float32Array[] = []
      for (let at = 0; at < ids.length; at += STRINGS_AT_ONCE) {
        signal?.throwIfAborted()
        const read = strings.slice(at, at + STRINGS_AT_ONCE).map(String)
        const vectors = await embedder.embed(read, signal)
        assertVectors(embedder, vectors, read.length)
        embedded.push(...vectors)
        done += read.length
        onEmbedded(done)
      }
      const all = ids.map((id) => BigInt(String(id)))
      await appendVectors(engine, session, embedder.dimensions, all, embedded)
    }
    await session.run('COMMIT')
  } finally {
    reading.close()
  }
}

const appendVectors = async (
  engine: Engine,
  session: Session,
  dimensions: number,
  ids: readonly bigint[],
  vectors: readonly Float32Array[],
): Promise<void> => {
  const values = new Float32Array(ids.length * dimensions)
  for (const [at, vector] of vectors.entries()) values.set(vector, at * dimensions)
  const { from, remove } = await engine.addTable({
    columns: [
      { name: 'internal_id', type: 'BIGINT' },
      { name: 'vector', type: { floats: dimensions } },
    ],
    rows: ids.length,
    read: () => {
      let isDone = ids.length === 0
      return (chunk) => {
        if (isDone) return 0
        isDone = true
        chunk.numbers(0, BigInt64Array.from(ids), ids.length)
        chunk.floats(1, values, ids.length)
        return ids.length
      }
    },
  })
  try {
    await session.run(`INSERT INTO segment.embedding BY NAME FROM ${from}`)
  } finally {
    remove()
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
