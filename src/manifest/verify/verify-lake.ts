/** Proves that a lake is what its manifest says: recomputes every hash and count and names what differs. */

import { ToolkitError } from '../../core/errors.ts'
import type { FileEntry } from '../../core/partition.ts'
import {
  HELD_PATH,
  MANIFEST_FOLDER,
  PARTS_FOLDER,
  partPath,
  RATES_PATH,
  runOfPart,
  snapshotPath,
} from '../../lake/files/layout.ts'
import { readRatesFile } from '../../lake/rates/rates-csv.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { sideBySide } from '../../support/side-by-side.ts'
import { Findings, type Problem } from '../form/problems.ts'
import { listLoadFiles, runOfFile } from '../gc/lake-files.ts'
import { verifyLakeFiles } from '../lake-file/lake-file.ts'
import { listRunIds } from '../runs/runs.ts'
import { readHeld } from '../snapshots/held.ts'
import { verifyLakeId } from '../snapshots/lake-id.ts'
import { filesIn, type ListedEntries, unseenEntries } from '../snapshots/listed-entries.ts'
import { listManifest, readKnownRoot } from '../snapshots/snapshots.ts'
import {
  type CountRows,
  checkFile,
  checkMadeFile,
  type MadeFile,
  madeFiles,
  verifyPublished,
} from './check-files.ts'
import { type CheckedManifest, checkManifest } from './check-manifest.ts'
import { DistinctTotals } from './part-checker.ts'
import { verifyRuns } from './verify-runs.ts'

export interface VerifyProgress {
  readonly files: number
  readonly filesTotal: number
  readonly bytes: number
  readonly bytesTotal: number
}

export interface VerifyRequest {
  readonly lake: string
  /** Checks this snapshot and its files only. @default every snapshot that gc has kept */
  readonly snapshot?: number | undefined
  readonly countRows: CountRows
  /** Files read at once. @default 4 */
  readonly concurrency?: number | undefined
  readonly onProgress?: ((progress: VerifyProgress) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** The lake is whole when there is no problem. Notes are worth knowing and no failure. */
export interface Verification {
  readonly snapshots: number
  readonly files: number
  readonly bytes: number
  readonly rows: number
  /** Files of serving indexes and batch files. */
  readonly madeFiles: number
  /** Problems, ordered by path. */
  readonly problems: readonly Problem[]
  readonly notes: readonly string[]
}

/** Parts that no snapshot lists: those that a merge has replaced, and what dead runs left. */
const strayParts = async (lake: string, listed: ReadonlySet<string>): Promise<string[]> => {
  const runs = new Set(await listRunIds(lake))
  return (await storageOf(lake).entries(PARTS_FOLDER)).flatMap(({ name }) => {
    const run = runOfPart(name)
    if (run === null) return [`"${partPath(name)}" is not a file of the manifest`]
    return listed.has(name) || runs.has(run) ? [] : [`"${partPath(name)}" is in no snapshot: gc removes it`]
  })
}

/** The files that snapshots list, each once, and what they are together. */
class ListedFiles {
  /** The description of each file, by its path. */
  readonly #said = new Map<string, string>()
  readonly #passed = new Set<string>()
  readonly #findings: Findings
  bytes = 0
  rows = 0

  constructor(findings: Findings) {
    this.#findings = findings
  }

  get size(): number {
    return this.#said.size
  }

  add(listed: ListedEntries, snapshot: number): void {
    for (const { table, path, rows, bytes, sha256 } of filesIn(listed)) {
      const said = `${table} ${rows} ${bytes} ${sha256}`
      const before = this.#said.get(path)
      if (before === undefined) {
        this.#said.set(path, said)
        this.bytes += bytes
        this.rows += rows
      } else if (before !== said)
        this.#findings.add(snapshotPath(snapshot), 'listing', `other snapshots say otherwise of "${path}"`)
    }
  }

  /** Whether a snapshot lists it, one that is held back too. */
  has(path: string): boolean {
    return this.#said.has(path) || this.#passed.has(path)
  }

  /** @returns whether it was not passed before */
  pass({ path }: FileEntry): boolean {
    const isFirst = !this.#passed.has(path)
    this.#passed.add(path)
    return isFirst
  }
}

const strayNotes = async (lake: string, listed: ListedFiles): Promise<string[]> => {
  const held = (await readHeld(lake).catch(() => null))?.run
  const files = await listLoadFiles(lake)
  const runs = new Set(await listRunIds(lake))
  const stray = files.filter(({ path }) => !runs.has(runOfFile(path) ?? ''))
  return [
    ...[...runs].map((run) =>
      run === held
        ? `run "${run}" is held back: "firmlake release" or "firmlake discard" ends it`
        : `run "${run}" is not finished: it is running, or waits for resume or gc`,
    ),
    ...stray
      .filter(({ path }) => !listed.has(path))
      .map(
        ({ path }) => `"${path}" is in no snapshot: left by a dead run or by another program, gc removes it`,
      ),
  ]
}

const verifyRates = async (lake: string, findings: Findings): Promise<void> => {
  const bytes = await storageOf(lake).read(RATES_PATH)
  if (bytes !== null && readRatesFile(bytes) === null)
    findings.add(RATES_PATH, 'changed', 'it does not match the hash in its first line')
}

/** Checks what the snapshot that is held back lists and no other one does. */
const checkHeld = async (
  lake: string,
  seen: Set<string>,
  findings: Findings,
  use: (entries: ListedEntries) => Promise<void>,
): Promise<void> => {
  try {
    const held = await readHeld(lake)
    if (held) for await (const entries of unseenEntries(lake, held.root, seen)) await use(entries)
  } catch (error) {
    if (!(error instanceof ToolkitError) || error.code !== 'SNAPSHOT_DAMAGED') throw error
    findings.add(HELD_PATH, 'changed', error.message)
  }
}

/** Checks each file of the lake once, from the newest snapshot back, and what was made from snapshots. */
const checkFiles = async (
  { lake, countRows, concurrency = 4, onProgress, signal }: VerifyRequest,
  { roots, damaged }: CheckedManifest,
  listed: ListedFiles,
  made: readonly MadeFile[],
  findings: Findings,
): Promise<void> => {
  const bytesTotal = listed.bytes + made.reduce((sum, { file }) => sum + file.bytes, 0)
  const filesTotal = listed.size + made.length
  let [done, bytes] = [0, 0]
  const passed = (more: number): void => {
    done += 1
    bytes += more
    onProgress?.({ files: done, filesTotal, bytes, bytesTotal })
  }
  const checkAll = async (files: readonly FileEntry[]): Promise<void> => {
    const found = await sideBySide(
      files,
      concurrency,
      async (file) => {
        const problem = await checkFile(lake, file, countRows, signal)
        passed(file.bytes)
        return problem
      },
      signal,
    )
    findings.problems.push(...found.filter((one) => one !== null))
  }
  // Damaged files were reported.
  const seen = new Set(damaged)
  for (const number of roots.toReversed()) {
    const root = await readKnownRoot(lake, number)
    const path = snapshotPath(number)
    // Nothing of the newest one was seen before: all that it lists is met here.
    const isNewest = number === roots.at(-1)
    const distinct = new DistinctTotals()
    for await (const entries of unseenEntries(lake, root, seen)) {
      const own: FileEntry[] = []
      for (const file of filesIn(entries))
        if (listed.pass(file)) own.push(file)
        else if (isNewest) findings.add(path, 'listing', `it lists "${file.path}" twice`)
      if (isNewest) distinct.add(entries)
      await checkAll(own)
    }
    if (isNewest && damaged.size === 0 && !distinct.areOf(root))
      findings.add(path, 'listing', 'its runs or sources are not as many as it says')
  }
  await checkHeld(lake, seen, findings, (entries) =>
    checkAll(filesIn(entries).filter((file) => listed.pass(file))),
  )
  const found = await sideBySide(
    made,
    concurrency,
    async (one) => {
      const own = await checkMadeFile(lake, one, signal)
      passed(one.file.bytes)
      return own
    },
    signal,
  )
  findings.problems.push(...found.flat())
}

/**
 * Checks every snapshot (own hash, form, number, parent, record of its commit, parts, sums) and every file that one
 * lists (there, readable, length, SHA-256, rows); serving indexes and batch files by the lists in them; without a number
 * also what unfinished runs would resume from, the rates, the lake's id, `lake.duckdb`, and what is published. Reads only; may run beside loads and gc.
 *
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_NOT_FOUND`, `LAKE_NEWER`; damage is never thrown but returned
 */
export const verifyLake = async (request: VerifyRequest): Promise<Verification> => {
  const { lake, snapshot, signal } = request
  const listing = await listManifest(lake)
  const findings = new Findings()
  const listed = new ListedFiles(findings)
  const use = (entries: ListedEntries, number: number): void => listed.add(entries, number)
  const manifest = await checkManifest(lake, listing, snapshot, use, findings)
  const made = await madeFiles(lake, snapshot)
  findings.problems.push(...made.problems)
  // Old snapshots may be removed meanwhile, and files with them: what is kept then is checked.
  const isOutdated = async (): Promise<boolean> => (await listManifest(lake)).oldest !== listing.oldest
  try {
    await checkFiles(request, manifest, listed, made.files, findings)
  } catch (error) {
    if (error instanceof ToolkitError && error.code === 'SNAPSHOT_DAMAGED' && (await isOutdated()))
      return verifyLake(request)
    throw error
  }
  if (await isOutdated()) return verifyLake(request)
  signal?.throwIfAborted()
  if (snapshot === undefined) {
    findings.notes.push(...(await strayNotes(lake, listed)), ...(await strayParts(lake, manifest.parts)))
    await verifyRuns(lake, { now: new Date() }, findings)
    await verifyRates(lake, findings)
    if (listing.snapshots.length > 0) await verifyLakeId(lake, findings)
    const newest = listing.snapshots.at(-1) ?? 0
    const isWhole = findings.problems.every(({ path }) => !path.startsWith(`${MANIFEST_FOLDER}/`))
    await verifyLakeFiles(lake, newest, isWhole && newest > 0, findings)
    await verifyPublished(lake, request.countRows, findings)
    for (const name of listing.others)
      findings.notes.push(`"${MANIFEST_FOLDER}/${name}" is not a file of the manifest`)
  }
  return {
    snapshots: manifest.snapshots,
    files: listed.size,
    bytes: listed.bytes,
    rows: listed.rows,
    madeFiles: made.files.reduce((sum, { folders }) => sum + folders.length, 0),
    problems: findings.problems.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0)),
    notes: findings.notes,
  }
}
