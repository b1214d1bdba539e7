/**
 * A file that is made from a lake's snapshots and stands beside its tables, replaced at each commit: its SHA-256 stands
 * beside it with what it shows. A reader finds the whole file of before or the new one.
 */

import { storageOf } from '../../storage/open-storage.ts'
import { sha256Of } from '../../support/hash.ts'
import type { Findings } from '../form/problems.ts'

/** A kind of file that a lake may have. */
export interface PlacedFile {
  readonly name: string
  /** Name of the file with its SHA-256, as `sha256sum -c` reads it. */
  readonly record: string
  /** Whether nobody may write to it. @default false */
  readonly isReadOnly?: boolean
}

/** Stands for a file that is not there yet. */
const NO_FILE = '0'.repeat(64)

/** The newest one of the snapshots that a file shows. */
const newestOf = (shows: string): number => Number(shows.replace(/^.* /, ''))

interface FileRecord {
  /** The hashes that the file may have: while it is replaced there are two, the new one first. */
  readonly hashes: readonly string[]
  /** The snapshots that it shows: `7`, or `3 to 7`. */
  readonly shows: string
}

/** Lines as `sha256sum` writes them, and comments: the snapshots, the hash of the lines above. */
const recordText = ({ name }: PlacedFile, { hashes, shows }: FileRecord): string => {
  const lines = hashes.map((sha256) => `${sha256}  ${name}\n`).join('')
  const text = `${lines}# snapshot ${shows}\n`
  return `${text}# ${sha256Of(text)}\n`
}

const readRecord = async (lake: string, file: PlacedFile): Promise<FileRecord | 'none' | 'damaged'> => {
  const bytes = await storageOf(lake).read(file.record)
  if (bytes === null) return 'none'
  const text = bytes.toString('latin1')
  const hashes = [...text.matchAll(/^([0-9a-f]{64}) {2}/gm)].map(([, sha256 = '']) => sha256)
  const record = { hashes, shows: /^# snapshot (.+)$/m.exec(text)?.[1] ?? '' }
  return hashes.length > 0 && text === recordText(file, record) ? record : 'damaged'
}

/** Whether the lake has, or had, such a file. */
export const isKept = async (lake: string, file: PlacedFile): Promise<boolean> =>
  (await readRecord(lake, file)) !== 'none'

/**
 * Puts the file into its place. Names are synced by the caller, once for all files.
 *
 * @param shows the snapshots that it shows
 */
export const placeFile = async (
  lake: string,
  file: PlacedFile,
  bytes: Buffer,
  shows: string,
): Promise<void> => {
  const storage = storageOf(lake)
  const sha256 = sha256Of(bytes)
  const before = await readRecord(lake, file)
  const [old = NO_FILE] = typeof before === 'string' ? [] : before.hashes
  // A process that is killed in between leaves a file with one of the two hashes. After a power failure a record may be torn, or that
  // of before: then the file is made again.
  const unsynced = { syncsBytes: false, syncsName: false }
  await storage.replace(file.record, recordText(file, { hashes: [sha256, old], shows }), unsynced)
  await storage.replace(file.name, bytes, { isReadOnly: file.isReadOnly, syncsName: false })
  await storage.replace(file.record, recordText(file, { hashes: [sha256], shows }), unsynced)
}

/** The bytes of the file; `undefined` where there is none, or another one than was written. */
export const readPlaced = async (lake: string, file: PlacedFile): Promise<Buffer | undefined> => {
  const record = await readRecord(lake, file)
  const bytes = typeof record === 'string' ? null : await storageOf(lake).read(file.name)
  const isWhole = bytes !== null && typeof record !== 'string' && record.hashes.includes(sha256Of(bytes))
  return isWhole ? bytes : undefined
}

/** Whether the file was placed for these snapshots, and nobody is, or was killed, replacing it. */
export const isPlaced = async (lake: string, file: PlacedFile, shows: string): Promise<boolean> => {
  const record = await readRecord(lake, file)
  if (typeof record === 'string' || record.hashes.length > 1 || record.shows !== shows) return false
  const bytes = await storageOf(lake).read(file.name)
  return bytes !== null && record.hashes[0] === sha256Of(bytes)
}

export const removePlaced = (lake: string, { name, record }: PlacedFile): Promise<void> =>
  storageOf(lake).remove([name, record])

export const MADE_AGAIN = '"firmlake verify --repair" makes it again'

/**
 * Checks the file and its record, which a lake need not have. Of two commits at once the older one may be the last to put
 * its file into place, or its record: then they are of two snapshots, and whoever works on the lake makes the file again.
 *
 * @param shows the snapshots that it should show; `undefined` where that is not known
 * @param shownIn the newest snapshot that bytes of such a file show by themselves; fails for others
 * @returns its bytes where they are what was written, and show just that
 */
export const verifyPlaced = async (
  lake: string,
  file: PlacedFile,
  shows: string | undefined,
  shownIn: (bytes: Buffer) => Promise<number>,
  findings: Findings,
): Promise<Buffer | undefined> => {
  const { name } = file
  const add = (path: string, problem: 'missing' | 'changed', detail: string): undefined => {
    findings.add(path, problem, `${detail}; ${MADE_AGAIN}`)
  }
  const note = (text: string): number => findings.notes.push(`"${name}" ${text}; ${MADE_AGAIN}`)
  const record = await readRecord(lake, file)
  const bytes = await storageOf(lake).read(name)
  if (record === 'damaged') return add(file.record, 'changed', 'it is not what was written')
  if (record === 'none') return bytes ? add(file.record, 'missing', 'the file is missing') : undefined
  const sha256 = bytes === null ? NO_FILE : sha256Of(bytes)
  const isWhole = record.hashes.includes(sha256)
  if (!isWhole && bytes === null) return add(name, 'missing', 'the file is missing')
  const recorded = newestOf(record.shows)
  const shown = isWhole || bytes === null ? recorded : await shownIn(bytes).catch(() => recorded)
  if (!isWhole && shown === recorded)
    return add(name, 'changed', `its SHA-256 is ${sha256}, expected ${record.hashes[0]}`)
  const newest = shows === undefined ? undefined : newestOf(shows)
  if (record.hashes.length > 1) note('was not replaced to the end')
  else if (!isWhole && (newest === undefined || shown === newest))
    note(`is of snapshot ${shown}, and its record of ${recorded}`)
  else if (shows !== undefined && (!isWhole || record.shows !== shows))
    note(`shows snapshot ${isWhole ? record.shows : shown}, the newest is ${newest}`)
  else if (bytes !== null) return bytes
  return
}
