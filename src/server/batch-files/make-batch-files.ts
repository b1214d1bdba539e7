/**
 * Makes the batch files of a snapshot from its serving index: JSON Lines by content and country, in the order of
 * the ids, in Brotli. They become visible all at once, by one rename; an interrupted run leaves nothing visible.
 */

import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { constants, createBrotliCompress } from 'node:zlib'
import { AREAS, type Area } from '../../contract/authorization.ts'
import { systemCode, ToolkitError, writeError } from '../../core/errors.ts'
import { BATCHES_FOLDER, batchesPath, inLake } from '../../lake/files/layout.ts'
import { checkNamedFile, writeFileList } from '../../manifest/form/file-list.ts'
import { fsyncFile, fsyncFolder, makeFolder, removeIfThere } from '../../support/durable-files.ts'
import { adoptFiles, PRIVATE_FILE, refuseLinks } from '../../support/file-modes.ts'
import { sha256Of } from '../../support/hash.ts'
import { removeLeftovers } from '../../support/list-files.ts'
import { temporaryName } from '../../support/process-identity.ts'
import { sideBySide } from '../../support/side-by-side.ts'
import { type LeavingDocument, leavingDocuments } from '../search/answer/leaving-documents.ts'
import { placeColumns, placeIn } from '../serving-index/index-form.ts'
import type { ServingIndex } from '../serving-index/session-pool.ts'
import { type BatchFile, batchSnapshots, INDEX_FILE, indexMark, readIndex } from './batch-index.ts'
import { mentioningCompanies } from './mentioning-companies.ts'
import { DOCUMENT_TABLES, entryOf, type FileReaders, type PlannedFile, planFiles } from './plan-files.ts'

/** @default 100_000 (the most that one cursor chain delivers) */
export const DEFAULT_COMPANIES_PER_FILE = 100_000

export interface MakeBatchFilesRequest {
  readonly lake: string
  readonly index: ServingIndex
  /** Records of a file at most; relations too. @default 100_000 */
  readonly companiesPerFile?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** Called with each file when it is written. */
  readonly onFile?: (file: BatchFile) => void
  /** Called with what is wrong with the existing files, before they are made again. */
  readonly onDamaged?: (reason: string) => void
}

export interface MadeBatchFiles {
  readonly snapshot: number
  /** The files that have each record once, as whoever has every area is offered them. */
  readonly files: readonly BatchFile[]
  /** `false` where the snapshot had its files already: nothing was done. */
  readonly made: boolean
}

/** Fast enough to keep up with reading; higher ones gain a few percent for several times the work. */
const QUALITY = 5
const QUERY_TIMEOUT_MS = 600_000
/** Places known at once, and documents in memory at once. */
const PLACES_AT_ONCE = 4096
const DOCUMENTS_AT_ONCE_BYTES = 4 << 20
const FILES_AT_ONCE = 2

const placesSql = (file: PlannedFile): string => `
  SELECT internal_id::VARCHAR AS id, r.is_plain, ${placeColumns('r')} FROM ${DOCUMENT_TABLES[file.content]} AS r
  WHERE country_code IS NOT DISTINCT FROM $1::VARCHAR AND internal_id BETWEEN $2::BIGINT AND $3::BIGINT
  ORDER BY internal_id
  LIMIT ${PLACES_AT_ONCE}`

type PlacedDocument = Omit<LeavingDocument, 'areas'>

/** Places of a file's documents in order, in runs of so many bytes. */
async function* placesOf(
  file: PlannedFile,
  { index, signal }: MakeBatchFilesRequest,
): AsyncGenerator<readonly PlacedDocument[]> {
  let from = file.first
  while (from <= file.last) {
    const rows = await index.query(
      (session) => session.rows(placesSql(file), [file.country, from, file.last]),
      { timeoutMs: QUERY_TIMEOUT_MS, signal },
    )
    let run: PlacedDocument[] = []
    let runBytes = 0
    for (const row of rows) {
      const bytes = Number(row.bytes)
      if (run.length > 0 && runBytes + bytes > DOCUMENTS_AT_ONCE_BYTES) {
        yield run
        run = []
        runBytes = 0
      }
      run.push({ id: BigInt(String(row.id)), isPlain: row.is_plain === true, place: placeIn(row) })
      runBytes += bytes
    }
    if (run.length === 0) return
    yield run
    from = BigInt(String(rows.at(-1)?.id)) + 1n
  }
}

const LINE_END = Buffer.from('\n')

/** Areas of those whom a file is for: it has what a search shows to them. */
const AREAS_OF: Readonly<Record<FileReaders, ReadonlySet<Area>>> = {
  all: new Set(AREAS),
  'every area': new Set(AREAS),
  'fewer areas': new Set(),
}

async function* linesOf(file: PlannedFile, request: MakeBatchFilesRequest): AsyncGenerator<Buffer> {
  const areas = AREAS_OF[file.readers]
  const { index, signal } = request
  for await (const places of placesOf(file, request)) {
    const page = places.map((one) => ({ ...one, areas }))
    const documents = await leavingDocuments(index, file.content, page, {
      timeoutMs: QUERY_TIMEOUT_MS,
      signal,
    })
    yield Buffer.concat(documents.flatMap((pieces) => [...pieces, LINE_END]))
  }
}

const writeFileOf = async (
  file: PlannedFile,
  folder: string,
  request: MakeBatchFilesRequest,
): Promise<BatchFile> => {
  const { index, signal } = request
  const hash = createHash('sha256')
  let sizeBytes = 0
  const path = join(folder, `${file.name}.jsonl.br`)
  const compress = createBrotliCompress({
    params: {
      [constants.BROTLI_PARAM_QUALITY]: QUALITY,
      // The hint has 32 bits.
      [constants.BROTLI_PARAM_SIZE_HINT]: Math.min(file.documentBytes, 2 ** 32 - 1),
    },
  })
  const measured = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      hash.update(chunk)
      sizeBytes += chunk.length
      yield chunk
    }
  }
  const target = createWriteStream(path, { flags: 'wx', mode: PRIVATE_FILE })
  await pipeline(() => linesOf(file, request), compress, measured, target, { ...(signal && { signal }) })
  await fsyncFile(path)
  const { snapshot, snapshotTime } = index.description
  const entry = entryOf(file, snapshot, snapshotTime, sizeBytes)
  const made = { ...entry, sha256: hash.digest('hex'), readers: file.readers }
  request.onFile?.(made)
  return made
}

const planned = async (request: MakeBatchFilesRequest): Promise<readonly PlannedFile[]> => {
  const { index, signal, companiesPerFile = DEFAULT_COMPANIES_PER_FILE } = request
  const options = { timeoutMs: QUERY_TIMEOUT_MS, signal }
  const mentioning = await mentioningCompanies(index, options)
  return index.query(
    async (session) => [
      ...(await planFiles(session, 'companies', companiesPerFile, mentioning)),
      ...(await planFiles(session, 'relations', companiesPerFile)),
    ],
    options,
  )
}

/** Files of older snapshots, and leftovers of crashed processes. */
const removeOlder = async (lake: string, snapshot: number): Promise<void> => {
  const parent = inLake(lake, BATCHES_FOLDER)
  const older = (await batchSnapshots(lake)).filter((number) => number < snapshot)
  for (const number of older) await rm(inLake(lake, batchesPath(number)), { recursive: true, force: true })
  await removeLeftovers(parent)
}

/** The first problem of the files that a snapshot has, or `null`. Reads all of them. */
const damageIn = async (
  lake: string,
  snapshot: number,
  signal: AbortSignal | undefined,
): Promise<string | null> => {
  try {
    const found = await readIndex(lake, snapshot)
    for (const { FileName: name, SizeInBytes: bytes, sha256 } of found.files) {
      const folder = inLake(lake, batchesPath(snapshot))
      const damage = await checkNamedFile(folder, { name, bytes, sha256 }, signal)
      if (damage !== null) return `Batch file "${name}" is damaged: ${damage.detail}`
    }
    return null
  } catch (error) {
    if (error instanceof ToolkitError) return error.message
    throw error
  }
}

/**
 * @param replaces whether what stands there is damaged
 * @returns whether this call's files were the first
 */
const publish = async (from: string, lake: string, snapshot: number, replaces: boolean): Promise<boolean> => {
  const to = inLake(lake, batchesPath(snapshot))
  if (await renameIfAbsent(from, to)) return true
  // Another process was first: its files are as good. What stands there without an index is no set of files.
  if (!replaces && (await indexMark(lake, snapshot)) !== null) return false
  await rm(to, { recursive: true, force: true })
  return renameIfAbsent(from, to)
}

const renameIfAbsent = async (from: string, to: string): Promise<boolean> => {
  try {
    await rename(from, to)
    return true
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false
    throw error
  }
}

const make = async (
  request: MakeBatchFilesRequest,
  temporary: string,
  replaces: boolean,
): Promise<boolean> => {
  const { lake, index, signal } = request
  const { snapshot } = index.description
  const files = await sideBySide(
    await planned(request),
    FILES_AT_ONCE,
    (file) => writeFileOf(file, temporary, request),
    signal,
  )
  const indexPath = join(temporary, INDEX_FILE)
  const text = `${JSON.stringify({ snapshot, protected: index.persons.digest, files }, null, 2)}\n`
  await writeFile(indexPath, text, { flag: 'wx', mode: PRIVATE_FILE })
  await fsyncFile(indexPath)
  await writeFileList(temporary, [
    ...files.map(({ FileName, SizeInBytes, sha256 }) => ({ name: FileName, bytes: SizeInBytes, sha256 })),
    { name: INDEX_FILE, bytes: Buffer.byteLength(text), sha256: sha256Of(text) },
  ])
  await adoptFiles(temporary)
  await fsyncFolder(temporary)
  const first = await publish(temporary, lake, snapshot, replaces)
  await fsyncFolder(inLake(lake, BATCHES_FOLDER))
  return first
}

/**
 * Makes the files of the index's snapshot where there are none yet or damaged ones, then removes those of older snapshots.
 *
 * @throws {ToolkitError} DISK_FULL, WRITE_FAILED; the signal's reason when stopped
 */
export const makeBatchFiles = async (request: MakeBatchFilesRequest): Promise<MadeBatchFiles> => {
  const { lake, index, signal } = request
  const { snapshot } = index.description
  const parent = inLake(lake, BATCHES_FOLDER)
  const temporary = join(parent, temporaryName())
  let made = false
  try {
    await refuseLinks(inLake(lake, ''), temporary, inLake(lake, batchesPath(snapshot)))
    const isThere = (await indexMark(lake, snapshot)) !== null
    const damage = isThere ? await damageIn(lake, snapshot, signal) : null
    if (damage !== null) request.onDamaged?.(damage)
    if (!isThere || damage !== null) {
      await makeFolder(temporary, { within: inLake(lake, '') })
      made = await make(request, temporary, damage !== null)
    }
    await removeOlder(lake, snapshot)
  } catch (error) {
    throw signal?.aborted || systemCode(error) === undefined
      ? error
      : writeError(`Cannot make batch files in "${parent}"`, error)
  } finally {
    await removeIfThere(temporary)
  }
  const { files } = await readIndex(lake, snapshot)
  return { snapshot, files: files.filter(({ readers }) => readers !== 'fewer areas'), made }
}
