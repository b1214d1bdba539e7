/**
 * The requests to the workflows and their answers. All of it stands in the history of the engine: addresses, ids and
 * numbers, names of skipped files, never a record, a token or a secret.
 */

import type { EngineOutcome, EngineRequest } from '../run-engine.ts'

/** Units of one child workflow: its history stays far below what a server takes. */
export const UNITS_OF_SHARD = 500

export type RequestCounters = EngineOutcome['requests']

/** A run as its workflow is started. */
export interface RunOrder extends EngineRequest {
  /** Longest silence of a worker at a unit before it counts as gone. */
  readonly heartbeatMs: number
}

/** How far the workflow of a run was when it was continued as a new one. */
export interface RunPlace {
  readonly phase: number
  /** First unit that no child workflow has. */
  readonly unit: number
  readonly requests: RequestCounters
}

export interface ShardOrder {
  readonly order: RunOrder
  readonly from: number
  /** Number behind the last unit. */
  readonly to: number
  /** Units in flight. */
  readonly lanes: number
  readonly requests: RequestCounters
}

/** The activities of a worker; each fails with the exit code of a step of a run. */
export interface StepActivities {
  /** Units from `from` to before `to` that have no record yet. */
  readonly openUnits: (order: RunOrder, from: number, to: number) => Promise<readonly number[]>
  readonly work: (order: RunOrder, unit: number) => Promise<RequestCounters | undefined>
  /** The sources that the units have left out and skipped; the list is gone with the folder of the run. */
  readonly unloadedSources: (order: RunOrder) => Promise<Pick<EngineOutcome, 'skipped' | 'excluded'>>
  readonly commit: (order: RunOrder) => Promise<Committed>
}

/** `null` in place of what only the call that made the snapshot knows, where another one made it. */
interface Committed {
  readonly requests?: RequestCounters
  readonly snapshot: number | null
  readonly report: Pick<EngineOutcome, 'skipped' | 'excluded' | 'currencyChange' | 'gone'> | null
}
