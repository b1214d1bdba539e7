/** Opens a serving index: its files for reading by place, its tables read-only in a locked engine. */

import { join } from 'node:path'
import { systemCode, ToolkitError } from '../../core/errors.ts'
import { Engine } from '../../lake/duckdb/engine.ts'
import { literal } from '../../lake/duckdb/sql.ts'
import { indexUnusable, markDamaged, readWholeIndex } from './index-folder.ts'
import {
  type DocumentKind,
  type DocumentPlace,
  documentFile,
  type IndexDescription,
  SEARCH_FILE,
} from './index-form.ts'
import { DamagedDocument, DocumentFile } from './read-documents.ts'
import type { QueryOptions, ServingIndex } from './serving-index.ts'
import { SessionPool } from './session-pool.ts'

export interface OpenIndexOptions {
  /** Folder of the index. */
  readonly folder: string
  /** DuckDB's memory in bytes. What does not fit fails: requests must not fill a disk. */
  readonly memoryBytes: number
  /** @default 2 */
  readonly threads?: number | undefined
  /** Queries that run side by side; others wait. @default 3 (each holds one of the four threads that Node has) */
  readonly sessions?: number | undefined
}

const SESSIONS = 3

/**
 * Reads the search file to its end and compares its hash; of the files of documents the length. What is damaged in them is
 * found when it is read.
 *
 * @throws {ToolkitError} COPY_UNUSABLE where files are missing, cut or damaged, or of another version
 */
export const openIndex = async (options: OpenIndexOptions): Promise<ServingIndex> => {
  const { folder, sessions = SESSIONS } = options
  const description = await readWholeIndex(folder)
  const documents = openDocuments(folder)
  try {
    const pool = await SessionPool.open(() => openEngine(options), sessions)
    return servingIndex(folder, description, documents, pool)
  } catch (error) {
    for (const file of Object.values(documents)) file.close()
    throw indexUnusable(folder, `"${SEARCH_FILE}" cannot be opened`, error)
  }
}

type Documents = Readonly<Record<DocumentKind, DocumentFile>>

const openDocuments = (folder: string): Documents => {
  const opened: DocumentFile[] = []
  const open = (kind: DocumentKind): DocumentFile => {
    const file = new DocumentFile(join(folder, documentFile(kind)))
    opened.push(file)
    return file
  }
  try {
    return { companies: open('companies'), relations: open('relations'), minified: open('minified') }
  } catch (error) {
    for (const file of opened) file.close()
    throw indexUnusable(folder, 'a file of documents cannot be opened', error)
  }
}

const openEngine = async ({ folder, memoryBytes, threads }: OpenIndexOptions): Promise<Engine> => {
  const engine = await Engine.open({ memoryBytes, ...(threads !== undefined && { threads }) })
  try {
    const session = await engine.connect()
    await session.run(`ATTACH ${literal(join(folder, SEARCH_FILE))} AS copy (READ_ONLY)`)
    await session.run('SET enable_external_access = false')
    await session.run('SET lock_configuration = true')
    session.close()
    return engine
  } catch (error) {
    engine.close()
    throw error
  }
}

const servingIndex = (
  folder: string,
  description: IndexDescription,
  files: Documents,
  pool: SessionPool,
): ServingIndex => ({
  description,
  query: async (use, options: QueryOptions) => {
    try {
      return await pool.use(use, options)
    } catch (error) {
      throw isDamage(error)
        ? await damaged(folder, SEARCH_FILE, 'its blocks do not match their checksums')
        : error
    }
  },
  documents: async (kind: DocumentKind, places: readonly DocumentPlace[]) => {
    try {
      return await files[kind].read(places)
    } catch (error) {
      const name = documentFile(kind)
      if (error instanceof DamagedDocument) throw await damaged(folder, name, error.message)
      throw indexUnusable(folder, `"${name}" cannot be read (${systemCode(error) ?? 'unknown'})`, error)
    }
  },
  close: async () => {
    await pool.close()
    for (const file of Object.values(files)) file.close()
  },
})

/** DuckDB's words for a block that is not what it wrote. */
const isDamage = (error: unknown): boolean =>
  error instanceof Error && !(error instanceof ToolkitError) && /corrupt database file/i.test(error.message)

/** The error of a file that was whole when it was opened: the next start makes the index again. */
const damaged = async (folder: string, name: string, reason: string): Promise<ToolkitError> => {
  await markDamaged(folder, `"${name}": ${reason}`)
  return indexUnusable(folder, `"${name}" is damaged: ${reason}; start again to rebuild it`)
}
