/**
 * The units of work of a run that many processes work on, written with its plan before the run is shared, so that no run is
 * half planned; and one immutable record of the result of each unit, created only if there is none: of several attempts at a
 * unit the first one counts.
 */

import { ToolkitError } from '../../core/errors.ts'
import type { PartitionEntry } from '../../core/partition.ts'
import { runPath } from '../../lake/files/layout.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { seal, unseal } from '../../support/hash.ts'
import {
  anyText,
  count,
  type Form,
  FormError,
  list,
  objectOf,
  oneOf,
  optional,
  positive,
  sha256,
  shapeOf,
  yesNo,
} from '../../support/json-form.ts'
import { sideBySide } from '../../support/side-by-side.ts'
import { ENTRY, type JournalEntry, readJournal, SOURCE_RESULT, type SourceResult } from './journal.ts'

export const UNITS_FILE = 'units.json'

/** A source of a unit, or a range of its blocks. */
export interface UnitSource {
  readonly name: string
  /** Its place among the sources of its job. */
  readonly at: number
  /** Its bytes must still have this fingerprint when the unit is worked on. */
  readonly fingerprint?: { readonly bytes: number; readonly sha256: string } | undefined
  readonly content?: 'companies' | 'relations' | undefined
  /** Found in a folder, not named itself. */
  readonly found?: boolean | undefined
  /** Its blocks from `from` to before `to`, of `of` in all. @default all */
  readonly blocks?: { readonly from: number; readonly to: number; readonly of: number } | undefined
}

/** A unit is worked on at once and recorded at once. Its id is its place in the list. */
export interface WorkUnit {
  /** Units of a later phase wait until all of the earlier ones are done. */
  readonly phase: number
  /** Place of its job among those of the run. */
  readonly job: number
  readonly sources: readonly UnitSource[]
}

/** The units of a run, and what all its workers keep to. */
export interface RunUnits {
  readonly units: readonly WorkUnit[]
  /** Any number of processes work on the run at once, and none owns it. @default false */
  readonly shared?: boolean | undefined
  /** Name and version of the tool that cut the units; blocks may be cut otherwise by another. */
  readonly tool?: string | undefined
  /** Leaves damaged and unreadable files out and loads the others. @default false */
  readonly skipBadFiles?: boolean | undefined
  /** Requests a second of all workers together. @default learnt from the answers, by each for itself */
  readonly requestsPerSecond?: number | undefined
}

const SOURCE: Form<UnitSource> = shapeOf<UnitSource>({
  name: anyText,
  at: count,
  fingerprint: optional(objectOf({ bytes: count, sha256 })),
  content: optional(oneOf(['companies', 'relations'])),
  found: optional(yesNo),
  blocks: optional(objectOf({ from: count, to: count, of: count })),
})
const UNITS: Form<RunUnits> = shapeOf<RunUnits>({
  units: list(shapeOf<WorkUnit>({ phase: count, job: count, sources: list(SOURCE) })),
  shared: optional(yesNo),
  tool: optional(anyText),
  skipBadFiles: optional(yesNo),
  requestsPerSecond: optional(positive),
})

const unitsPath = (run: string): string => `${runPath(run)}/${UNITS_FILE}`

/** One unit a line, so that a person can read them. */
export const unitsText = ({ units, ...more }: RunUnits): string => {
  const lines = units.map((unit) => `    ${JSON.stringify(unit)}`).join(',\n')
  const settings = JSON.stringify(more).slice(1, -1)
  return `${seal(`{"units": [\n${lines}\n  ]${settings === '' ? '' : `, ${settings}`}}`)}\n`
}

/**
 * The units of a run; `undefined` where it has none: only shared runs have some.
 *
 * @throws {ToolkitError} `RUN_NOT_RESUMABLE` when they are damaged
 */
export const readUnits = async (lake: string, run: string): Promise<RunUnits | undefined> => {
  const text = await storageOf(lake).read(unitsPath(run))
  if (text === null) return undefined
  const read = unseal(text)
  try {
    if (read.kind !== 'damaged') return UNITS(read.value, 'units')
  } catch (error) {
    if (!(error instanceof FormError)) throw error
  }
  throw new ToolkitError('RUN_NOT_RESUMABLE', `Cannot read the units of run "${run}": they are damaged`, {
    run,
  })
}

export interface UnitRecord {
  readonly unit: number
  /** Name and version of the tool. */
  readonly tool: string
  /** Stands in the names of its files. */
  readonly attempt: string
  /** Host and pid of the process, for a person. */
  readonly by: string
  /** The result of each source of the unit, in its order. */
  readonly sources: readonly SourceResult[]
  readonly entries: readonly JournalEntry[]
}

const RECORD: Form<UnitRecord> = shapeOf<UnitRecord>({
  ...{ unit: count, tool: anyText, attempt: anyText, by: anyText },
  ...{ sources: list(SOURCE_RESULT), entries: list(ENTRY) },
})

const recordsPath = (run: string): string => `${runPath(run)}/parts`
const DIGITS = 7
const RECORD_NAME = /^(\d{7,})\.json$/
const recordPath = (run: string, unit: number): string =>
  `${recordsPath(run)}/${String(unit).padStart(DIGITS, '0')}.json`

/** Records what became of a unit. @returns whether no other attempt was first */
export const createRecord = async (lake: string, run: string, record: UnitRecord): Promise<boolean> => {
  if (await storageOf(lake).create(recordPath(run, record.unit), `${seal(JSON.stringify(record))}\n`))
    return true
  // A storage may have lost its answer to this very attempt.
  return (await readRecord(lake, run, record.unit))?.attempt === record.attempt
}

/** @throws {ToolkitError} `RUN_NOT_RESUMABLE` when it is damaged */
export const readRecord = async (lake: string, run: string, unit: number): Promise<UnitRecord | null> => {
  const bytes = await storageOf(lake).read(recordPath(run, unit))
  if (bytes === null) return null
  const read = unseal(bytes)
  try {
    if (read.kind !== 'damaged') return RECORD(read.value, '')
  } catch (error) {
    if (!(error instanceof FormError)) throw error
  }
  throw new ToolkitError(
    'RUN_NOT_RESUMABLE',
    `Cannot read the record of unit ${unit} of run "${run}": it is damaged, "firmlake run cancel" removes the run`,
    { run, unit },
  )
}

export const isRecorded = async (lake: string, run: string, unit: number): Promise<boolean> =>
  (await storageOf(lake).stat(recordPath(run, unit))) !== null

/** Removes a record that was written for a run which is gone. */
export const removeRecord = (lake: string, run: string, unit: number): Promise<void> =>
  storageOf(lake).remove([recordPath(run, unit)])

/** The units that have a record. */
export const recordedUnits = async (lake: string, run: string): Promise<ReadonlySet<number>> =>
  new Set(
    (await storageOf(lake).entries(recordsPath(run))).flatMap(({ name }) => {
      const digits = RECORD_NAME.exec(name)?.[1]
      return digits === undefined ? [] : [Number(digits)]
    }),
  )

const RECORDS_AT_ONCE = 16

/** The records of units in their order; `null` for those that have none. @throws as `readRecord` */
export const readRecords = (
  lake: string,
  run: string,
  units: readonly number[],
): Promise<readonly (UnitRecord | null)[]> =>
  sideBySide(units, RECORDS_AT_ONCE, (unit) => readRecord(lake, run, unit))

/**
 * The finished partitions of a run, of whatever process: by its journal, and by the records of its units.
 *
 * @throws as `readJournal` and `readRecord`
 */
export const finishedPartitions = async (lake: string, run: string): Promise<readonly PartitionEntry[]> => {
  const units = [...(await recordedUnits(lake, run))].sort((a, b) => a - b)
  const records = await readRecords(lake, run, units)
  const entries = [...(await readJournal(lake, run)), ...records.flatMap((record) => record?.entries ?? [])]
  return entries.map(({ partition }) => partition)
}
