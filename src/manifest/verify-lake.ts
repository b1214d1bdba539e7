/** Proves that a lake is what its manifest says: recomputes every hash and count and names what differs. */

import type { FileEntry, Snapshot } from '../core/partition.ts'
import {
  MANIFEST_FOLDER,
  PARTS_FOLDER,
  partPath,
  RATES_PATH,
  runOfPart,
  snapshotPath,
} from '../lake/lake/layout.ts'
import { storageOf } from '../storage/open-storage.ts'
import { sideBySide } from '../support/side-by-side.ts'
import { type CountRows, checkFile } from './check-file.ts'
import { checkManifest } from './check-manifest.ts'
import type { Findings, Problem } from './findings.ts'
import { listLoadFiles, runOfFile } from './lake-files.ts'
import { listedFiles } from './listed-files.ts'
import { checkMadeFile, type MadeFile, madeFiles } from './made-files.ts'
import { readRatesFile } from './rates-file.ts'
import { listRunIds } from './runs.ts'
import { listManifest } from './snapshots.ts'
import { verifyPublished } from './verify-published.ts'
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
  readonly concurrency?: number
  readonly onProgress?: (progress: VerifyProgress) => void
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
  /** By path. */
  readonly problems: readonly Problem[]
  readonly notes: readonly string[]
}

const sameFile = (a: FileEntry, b: FileEntry): boolean =>
  a.table === b.table && a.rows === b.rows && a.bytes === b.bytes && a.sha256 === b.sha256

/** Parts that no snapshot lists: those that a merge has replaced, and what dead runs left. */
const strayParts = async (lake: string, listed: ReadonlySet<string>): Promise<string[]> => {
  const runs = new Set(await listRunIds(lake))
  return (await storageOf(lake).entries(PARTS_FOLDER)).flatMap(({ name }) => {
    const run = runOfPart(name)
    if (run === null) return [`"${partPath(name)}" is not a file of the manifest`]
    return listed.has(name) || runs.has(run) ? [] : [`"${partPath(name)}" is in no snapshot: gc removes it`]
  })
}

/** Every file once, however many snapshots list it. */
const collectFiles = (files: Map<string, FileEntry>, problems: Problem[]) => (snapshot: Snapshot) => {
  const path = snapshotPath(snapshot.snapshot)
  const here = new Set<string>()
  for (const file of listedFiles(snapshot)) {
    const known = files.get(file.path)
    if (!known) files.set(file.path, file)
    else if (!sameFile(known, file))
      problems.push({ path, problem: 'listing', detail: `other snapshots say otherwise of "${file.path}"` })
    if (here.has(file.path))
      problems.push({ path, problem: 'listing', detail: `it lists "${file.path}" twice` })
    here.add(file.path)
  }
}

const strayNotes = async (lake: string, listed: ReadonlyMap<string, FileEntry>): Promise<string[]> => {
  const files = await listLoadFiles(lake)
  const runs = new Set(await listRunIds(lake))
  const stray = files.filter(({ path }) => !runs.has(runOfFile(path) ?? ''))
  return [
    ...[...runs].map((run) => `run "${run}" is not finished: it is running, or waits for resume or gc`),
    ...stray
      .filter(({ path }) => !listed.has(path))
      .map(({ path }) => `"${path}" is in no snapshot: a dead run left it, gc removes it`),
  ]
}

const verifyRates = async (lake: string, { problems, notes }: Findings): Promise<void> => {
  const bytes = await storageOf(lake).read(RATES_PATH)
  const kind = bytes && readRatesFile(bytes).kind
  if (kind === 'damaged')
    problems.push({
      path: RATES_PATH,
      problem: 'changed',
      detail: 'it does not match the hash in its first line',
    })
  if (kind === 'unhashed') notes.push(`"${RATES_PATH}" has no hash yet: "firmlake rates load" writes one`)
}

const checkFiles = async (
  { lake, countRows, concurrency = 4, onProgress, signal }: VerifyRequest,
  listed: readonly FileEntry[],
  made: readonly MadeFile[],
): Promise<Problem[]> => {
  const files = [
    ...listed.map((file) => ({
      bytes: file.bytes,
      check: async () => [await checkFile(lake, file, countRows, signal)],
    })),
    ...made.map((one) => ({ bytes: one.file.bytes, check: () => checkMadeFile(lake, one, signal) })),
  ]
  const bytesTotal = files.reduce((sum, one) => sum + one.bytes, 0)
  let [done, bytes] = [0, 0]
  const found = await sideBySide(
    files,
    concurrency,
    async (file) => {
      const problems = await file.check()
      done += 1
      bytes += file.bytes
      onProgress?.({ files: done, filesTotal: files.length, bytes, bytesTotal })
      return problems
    },
    signal,
  )
  return found.flat().filter((one) => one !== null)
}

/**
 * Checks every snapshot (own hash, form, number, parent, record of its commit, parts, sums) and every file that one
 * lists (there, readable, length, SHA-256, rows); serving indexes and batch files by the lists in them; without a number
 * also what unfinished runs would resume from, the rates, and what is published. Reads only; may run beside loads and gc.
 *
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_NOT_FOUND`, `LAKE_NEWER`; damage is never thrown but returned
 */
export const verifyLake = async (request: VerifyRequest): Promise<Verification> => {
  const { lake, snapshot, signal } = request
  const listing = await listManifest(lake)
  const findings = { problems: [] as Problem[], notes: [] as string[] }
  const listed = new Map<string, FileEntry>()
  const { snapshots, parts } = await checkManifest(
    lake,
    listing,
    snapshot,
    collectFiles(listed, findings.problems),
    findings,
  )
  const files = [...listed.values()]
  const made = await madeFiles(lake, snapshot)
  findings.problems.push(...made.problems, ...(await checkFiles(request, files, made.files)))
  findings.notes.push(...made.notes)
  // Old snapshots may have been removed meanwhile, and files with them: what is kept now is checked.
  if ((await listManifest(lake)).oldest !== listing.oldest) return verifyLake(request)
  signal?.throwIfAborted()
  if (snapshot === undefined) {
    findings.notes.push(...(await strayNotes(lake, listed)), ...(await strayParts(lake, parts)))
    await verifyRuns(lake, { now: new Date() }, findings)
    await verifyRates(lake, findings)
    await verifyPublished(lake, request.countRows, findings)
    for (const name of listing.others)
      findings.notes.push(`"${MANIFEST_FOLDER}/${name}" is not a file of the manifest`)
  }
  return {
    snapshots,
    files: files.length,
    bytes: files.reduce((sum, one) => sum + one.bytes, 0),
    rows: files.reduce((sum, one) => sum + one.rows, 0),
    madeFiles: made.files.reduce((sum, { folders }) => sum + folders.length, 0),
    problems: findings.problems.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0)),
    notes: findings.notes,
  }
}
