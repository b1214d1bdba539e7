/**
 * The units of work of a run that many processes work on, written with its plan before the run is shared, so that no run is
 * half planned. A run without them is one unit: that of its owner.
 */

import { seal } from '../../support/hash.ts'
import {
  anyText,
  count,
  type Form,
  fits,
  list,
  objectOf,
  oneOf,
  optional,
  positive,
  sha256,
  shapeOf,
  yesNo,
} from '../../support/json-form.ts'
import { readRunFile } from './run-files.ts'

export const UNITS_FILE = 'units.json'

/** A source of a unit, or a range of its blocks. */
export interface UnitSource {
  readonly name: string
  /** The source's place among those of its job. */
  readonly at: number
  /** The fingerprint that the source's bytes must still have when the unit is worked on. */
  readonly fingerprint?: { readonly bytes: number; readonly sha256: string } | undefined
  readonly content?: 'companies' | 'relations' | undefined
  /** Found in a folder, not named itself. */
  readonly found?: boolean | undefined
  /** The unit's blocks from `from` to before `to`, of `of` in all. @default all */
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
  tool: optional(anyText),
  skipBadFiles: optional(yesNo),
  requestsPerSecond: optional(positive),
})

/** Text with a unit a line, so that a person can read them. */
export const unitsText = ({ units, ...more }: RunUnits): string => {
  const lines = units.map((unit) => `    ${JSON.stringify(unit)}`).join(',\n')
  const settings = JSON.stringify(more).slice(1, -1)
  return `${seal(`{"units": [\n${lines}\n  ]${settings === '' ? '' : `, ${settings}`}}`)}\n`
}

/** The units of a run; `undefined` where it has none: only shared runs have some. @throws {ToolkitError} `RUN_NOT_RESUMABLE` */
export const readUnits = (lake: string, run: string): Promise<RunUnits | undefined> =>
  readRunFile({ lake, run }, { name: UNITS_FILE, what: 'units' }, (value) => fits(UNITS, value))
