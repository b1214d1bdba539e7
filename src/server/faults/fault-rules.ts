/** The rules that say on which requests faults are injected. */

import type { Operation } from '../../contract/requests.ts'
import type { FaultDetails } from './fault-form.ts'
import type { FaultKind } from './fault-kinds.ts'

/** What a rule may be about; both listings of parameters are one. */
export const FAULT_TARGETS = ['companies', 'relations', 'batchFiles', 'batchFile', 'parameters'] as const
export type FaultTarget = (typeof FAULT_TARGETS)[number]

export const targetOf = (operation: Operation): FaultTarget =>
  operation === 'companiesSearchParameters' || operation === 'relationsSearchParameters'
    ? 'parameters'
    : operation

/** Which of the matching requests, counted from 1. */
export type Selection =
  | { readonly kind: 'at'; readonly numbers: readonly number[] }
  | { readonly kind: 'every'; readonly step: number }
  | { readonly kind: 'from'; readonly first: number }

export interface FaultRule extends FaultDetails {
  readonly on: FaultTarget
  readonly fault: FaultKind
  readonly selection: Selection
  /** Most times that it happens. */
  readonly times?: number
}
