/**
 * What became of the units of a run that many processes work on: one immutable record a unit, created only if there is
 * none. So of several attempts at a unit the first that ends counts, and the others learn that they came too late.
 */

import { ToolkitError } from '../../core/errors.ts'
import { runPath } from '../../lake/files/layout.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { anyText, count, type Form, FormError, list, shapeOf } from '../../support/json-form.ts'
import { seal, unseal } from '../../support/sealed-text.ts'
import { sideBySide } from '../../support/side-by-side.ts'
import { ENTRY, type JournalEntry, SOURCE_RESULT, type SourceResult } from './journal.ts'

export interface UnitRecord {
  readonly unit: number
  /** Name and version of the tool. */
  readonly tool: string
  /** Stands in the names of its files. */
  readonly attempt: string
  /** Host and pid of the process, for a person. */
  readonly by: string
  /** What became of each source of the unit, in its order. */
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
