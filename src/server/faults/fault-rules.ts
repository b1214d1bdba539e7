/** The rules that say on which requests faults are injected. */

import type { Operation } from '../../contract/requests.ts'
import type { FaultDetails } from './fault-form.ts'
import { type FaultKind, faultOf } from './fault-kinds.ts'

/** Operations that a rule may name; both listings of parameters are one. */
export const FAULT_TARGETS = ['companies', 'relations', 'batchFiles', 'batchFile', 'parameters'] as const
export type FaultTarget = (typeof FAULT_TARGETS)[number]

export const targetOf = (operation: Operation): FaultTarget =>
  operation === 'companiesSearchParameters' || operation === 'relationsSearchParameters'
    ? 'parameters'
    : operation

/** Numbers of the matching requests, counted from 1. */
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

// Counts the requests that each rule is about, and says which fault a request gets.

export interface FaultPlan {
  /** The fault of the next request; the first rule that selects it applies. */
  next(on: FaultTarget): FaultRule | undefined
  /** The same for answers that are the last page of a chain; faults of the last page are counted by these. */
  nextLastPage(on: FaultTarget): FaultRule | undefined
}

const selects = (selection: Selection, number: number): boolean => {
  switch (selection.kind) {
    case 'at':
      return selection.numbers.includes(number)
    case 'every':
      return number % selection.step === 0
    case 'from':
      return number >= selection.first
  }
}

/** Each rule counts for itself, whether or not an earlier one takes the request: so its numbers keep their meaning. */
export const newFaultPlan = (rules: readonly FaultRule[]): FaultPlan => {
  const counted = rules.map((rule) => ({ rule, seen: 0, selected: 0 }))
  const choose = (on: FaultTarget, lastPage: boolean): FaultRule | undefined => {
    let chosen: FaultRule | undefined
    for (const count of counted) {
      const { rule } = count
      if (rule.on !== on || (faultOf(rule.fault).stage === 'last page') !== lastPage) continue
      count.seen += 1
      if (!selects(rule.selection, count.seen) || count.selected === (rule.times ?? Infinity)) continue
      count.selected += 1
      chosen ??= rule
    }
    return chosen
  }
  return { next: (on) => choose(on, false), nextLastPage: (on) => choose(on, true) }
}
