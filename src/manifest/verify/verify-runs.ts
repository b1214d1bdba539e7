/** Checks what an unfinished run would resume from: its plan, owners, journal, staged files, and windows pulled so far. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemCode, ToolkitError } from '../../core/errors.ts'
import type { PartitionEntry } from '../../core/partition.ts'
import { inLake, runPath, stagedPath } from '../../lake/files/layout.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { crc32Of } from '../../support/crc32.ts'
import { unseal } from '../../support/hash.ts'
import { JSON_BYTES } from '../../support/json-bytes.ts'
import { listFolder, listTree, statPath } from '../../support/list-files.ts'
import type { Findings } from '../form/problems.ts'
import { below } from '../gc/lake-files.ts'
import { JOURNAL_FILE, journalLines, journalPath, readUnitWork, recordedUnits } from '../runs/journal.ts'
import { parseLine } from '../runs/journal-lines.ts'
import { type LivenessRule, runState } from '../runs/run-lease.ts'
import { listRunIds } from '../runs/runs.ts'
import { isUnfinished } from '../runs/shared-commits.ts'

const { LINE_FEED } = JSON_BYTES

/** Every small JSON file of the run, wherever in its folder. */
const checkSmallFiles = async (lake: string, run: string, findings: Findings): Promise<void> => {
  const storage = storageOf(lake)
  for (const { path } of await storage.list(runPath(run))) {
    if (!path.endsWith('.json')) continue
    const bytes = await storage.read(path)
    if (bytes && unseal(bytes).kind === 'damaged')
      findings.add(path, 'changed', 'it is not what the run wrote')
  }
}

/** The files of windows that a pull has begun, as far as their checkpoints count them. */
const checkWindows = async (lake: string, run: string, findings: Findings): Promise<void> => {
  const folders = await listFolder(inLake(lake, runPath(run)))
  const windows = folders.filter(({ name }) => /^windows(-\d+)?$/.test(name))
  const files = await Promise.all(
    windows.map(({ name }) => listTree(inLake(lake, `${runPath(run)}/${name}`))),
  )
  for (const { path } of files.flat()) {
    if (!path.endsWith('.json')) continue
    const file = path.replace(/\.json$/, '.jsonl')
    const found = await statPath(file)
    const read = unseal(await readFile(path))
    if (found === null || read.kind === 'damaged') continue
    const { bytes, crc32 }: { bytes?: unknown; crc32?: unknown } = read.value
    if (typeof bytes !== 'number' || typeof crc32 !== 'number') continue
    const where = below(lake, file)
    if (found.bytes < bytes) findings.add(where, 'cut', `${found.bytes} bytes, expected ${bytes}`)
    else if ((await crc32Of(file, bytes)) !== crc32)
      findings.add(where, 'changed', 'it does not match its checkpoint')
  }
}

/** The files of partitions that a journal tells of. @param line by its number */
const checkFiles = async (
  lake: string,
  run: string,
  { files }: PartitionEntry,
  line: number,
  findings: Findings,
): Promise<void> => {
  const storage = storageOf(lake)
  for (const file of files) {
    const staged = stagedPath(run, file)
    const local = inLake(lake, staged)
    if (await storage.isStaged(local, file)) continue
    const there = await statPath(local)
    const detail = `it is not what line ${line} of the run's journal says`
    findings.add(there ? staged : file.path, there ? 'changed' : 'missing', detail)
  }
}

/** The journal of a run's owner. @param needsFiles whether a commit needs the files that it tells of */
const checkJournal = async (
  lake: string,
  run: string,
  needsFiles: boolean,
  findings: Findings,
): Promise<void> => {
  const path = journalPath(run)
  const lines = await Array.fromAsync((await journalLines(lake, run)) ?? [], (line) => Buffer.from(line))
  const torn = await tornTail(lake, run)
  if (torn === 'changed') findings.add(path, 'changed', 'the end of its last line')
  if (torn === 'torn') findings.notes.push(`"${path}" ends in half a line: its partition is loaded again`)
  for (const [at, line] of lines.entries()) {
    const parsed = parseLine(line)
    // A power failure leaves zeros behind the last whole line.
    const isZeros = at === lines.length - 1 && line.every((byte) => byte === 0)
    if (parsed === null && !isZeros) findings.add(path, 'changed', `line ${at + 1} is not what the run wrote`)
    if (needsFiles && parsed?.kind === 'partition')
      await checkFiles(lake, run, parsed.entry.partition, at + 1, findings)
  }
}

/** The journals of units, of which no line can be torn. @param needsFiles as for `checkJournal` */
const checkUnits = async (
  lake: string,
  run: string,
  needsFiles: boolean,
  findings: Findings,
): Promise<void> => {
  for (const unit of await recordedUnits(lake, run)) {
    try {
      const { entries = [] } = (await readUnitWork(lake, run, unit)) ?? {}
      if (!needsFiles) continue
      for (const [at, { partition }] of entries.entries())
        await checkFiles(lake, run, partition, at + 1, findings)
    } catch (error) {
      if (!(error instanceof ToolkitError) || error.code !== 'RUN_NOT_RESUMABLE') throw error
      findings.add(journalPath(run, unit), 'changed', 'it is not what the run wrote')
    }
  }
}

const noJournal = (error: unknown): Buffer => {
  if (systemCode(error) === 'ENOENT') return Buffer.alloc(0)
  throw error
}

/** The kind of bytes behind the last whole line of a journal on this machine. */
const tornTail = async (lake: string, run: string): Promise<'none' | 'torn' | 'changed'> => {
  const bytes = await readFile(join(inLake(lake, runPath(run)), JOURNAL_FILE)).catch(noJournal)
  const tail = bytes.subarray(bytes.lastIndexOf(LINE_FEED) + 1)
  if (tail.length === 0) return 'none'
  // The bytes before the last one are a whole line: that byte was its end.
  return parseLine(tail.subarray(0, -1)) === null ? 'torn' : 'changed'
}

/** Whether a commit needs the files of a run. Where snapshots are damaged, which is reported, it is taken to be so. */
const awaitsCommit = async (lake: string, run: string): Promise<boolean> => {
  try {
    return await isUnfinished(lake, run)
  } catch (error) {
    if (error instanceof ToolkitError && error.code === 'SNAPSHOT_DAMAGED') return true
    throw error
  }
}

/** Checks all runs that are not at work. */
export const verifyRuns = async (lake: string, judge: LivenessRule, findings: Findings): Promise<void> => {
  for (const run of await listRunIds(lake)) {
    const state = (await runState(lake, run, judge))?.state
    if (state === 'live') continue
    await checkSmallFiles(lake, run, findings)
    // A process that cannot be seen from here may be moving files just now.
    const isGone = state === 'gone'
    const needsFiles = isGone && (await awaitsCommit(lake, run))
    await checkUnits(lake, run, needsFiles, findings)
    if (!isGone) continue
    await checkWindows(lake, run, findings)
    await checkJournal(lake, run, needsFiles, findings)
  }
}
