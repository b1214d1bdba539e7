/** Opens a serving index: its files for reading by place, its tables read-only in a locked engine. */

import { join } from 'node:path'
import { openFilesError, systemCode, ToolkitError } from '../../core/errors.ts'
import { Engine } from '../../lake/duckdb/engine.ts'
import { readPersons } from '../persons/person-tables.ts'
import { indexUnusable, markDamaged, readWholeIndex } from './index-folder.ts'
import {
  type DocumentKind,
  type DocumentPlace,
  documentFile,
  type IndexDescription,
  type SegmentDescription,
  searchFile,
} from './index-form.ts'
import { DamagedDocument, DocumentFile } from './read-documents.ts'
import { attachSegments, findPersons } from './segment-views.ts'
import { type IndexQueryOptions, type ServingIndex, SessionPool } from './session-pool.ts'

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
const OPENING_MS = 600_000

/**
 * Reads the search file to its end and compares its hash; of the files of documents the length. What is damaged in them is
 * found when it is read.
 *
 * @throws {ToolkitError} INDEX_UNUSABLE where files are missing, cut or damaged, or of another version
 */
export const openIndex = async (options: OpenIndexOptions): Promise<ServingIndex> => {
  const { folder, sessions = SESSIONS } = options
  const description = await readWholeIndex(folder)
  const { segments } = description
  const documents = openDocuments(folder, segments)
  try {
    const pool = await SessionPool.open(() => openEngine(options, segments), sessions)
    const persons = await pool.use(readPersons, { timeoutMs: OPENING_MS })
    return servingIndex(folder, { description, persons }, documents, pool)
  } catch (error) {
    closeAll(documents)
    throw indexUnusable(folder, 'its tables cannot be opened', error)
  }
}

/** The files of documents of each segment. */
type Documents = readonly Readonly<Record<DocumentKind, DocumentFile>>[]

const closeAll = (documents: Documents): void => {
  for (const files of documents) for (const file of Object.values(files)) file.close()
}

const openDocuments = (folder: string, segments: readonly SegmentDescription[]): Documents => {
  const opened: DocumentFile[] = []
  const open = (kind: DocumentKind, segment: string): DocumentFile => {
    const file = new DocumentFile(join(folder, documentFile(kind, segment)), kind)
    opened.push(file)
    return file
  }
  try {
    return segments.map(({ name }) => ({
      companies: open('companies', name),
      relations: open('relations', name),
      minified: open('minified', name),
    }))
  } catch (error) {
    for (const file of opened) file.close()
    throw indexUnusable(folder, 'a file of documents cannot be opened', error)
  }
}

const openEngine = async (
  { folder, memoryBytes, threads }: OpenIndexOptions,
  segments: readonly SegmentDescription[],
): Promise<Engine> => {
  const engine = await Engine.open({ memoryBytes, ...(threads !== undefined && { threads }) })
  try {
    const session = await engine.connect()
    await attachSegments(session, folder, segments)
    await findPersons(session)
    session.close()
    return engine
  } catch (error) {
    engine.close()
    throw error
  }
}

const servingIndex = (
  folder: string,
  { description, persons }: Pick<ServingIndex, 'description' | 'persons'>,
  documents: Documents,
  pool: SessionPool,
): ServingIndex => ({
  ...{ description, persons },
  query: async (use, options: IndexQueryOptions) => {
    try {
      return await pool.use(use, options)
    } catch (error) {
      throw isDamage(error)
        ? await damaged(folder, damagedIn(error, description), 'its blocks do not match their checksums')
        : error
    }
  },
  documents: async (kind: DocumentKind, places: readonly DocumentPlace[]) => {
    const found = new Array<Buffer>(places.length)
    for (const [segment, numbers] of numbersBySegment(places)) {
      const name = documentFile(kind, description.segments[segment]?.name ?? '')
      const file = documents[segment]?.[kind]
      if (file === undefined) throw indexUnusable(folder, `it has no segment ${segment}`)
      try {
        await file.read(places, numbers, (document, number) => {
          found[number] = document
        })
      } catch (error) {
        if (error instanceof DamagedDocument) throw await damaged(folder, name, error.message)
        throw (
          openFilesError(`Cannot read "${name}"`, error) ??
          indexUnusable(folder, `"${name}" cannot be read (${systemCode(error) ?? 'unknown'})`, error)
        )
      }
    }
    return found
  },
  close: async () => {
    await pool.close()
    closeAll(documents)
  },
})

/** The places' numbers by their segment. */
const numbersBySegment = (places: readonly DocumentPlace[]): Map<number, number[]> => {
  const numbers = new Map<number, number[]>()
  for (const [number, { segment }] of places.entries()) {
    const some = numbers.get(segment)
    if (some) some.push(number)
    else numbers.set(segment, [number])
  }
  return numbers
}

/** The file that an error of DuckDB names, where it does. */
const damagedIn = (error: unknown, { segments }: IndexDescription): string => {
  const names = segments.map(({ name }) => searchFile(name))
  const message = error instanceof Error ? error.message : ''
  return names.find((name) => message.includes(name)) ?? names.join('", "')
}

/** DuckDB's words for a block that is not what it wrote. */
const isDamage = (error: unknown): boolean =>
  error instanceof Error && !(error instanceof ToolkitError) && /corrupt database file/i.test(error.message)

/** The error of a file that was whole when it was opened: the next start makes the index again. */
const damaged = async (folder: string, name: string, reason: string): Promise<ToolkitError> => {
  await markDamaged(folder, `"${name}": ${reason}`)
  return indexUnusable(folder, `"${name}" is damaged: ${reason}; start again to rebuild it`)
}
