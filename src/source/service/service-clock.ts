/**
 * Instants that the service says, beside the clock of this machine: one of the two is wrong where they are more than a day
 * apart, and nothing may begin or continue by it.
 */

import { ToolkitError } from '../../core/errors.ts'
import { dateOf } from '../../support/http-values.ts'
import type { AnswerHeaders } from './answer.ts'

export interface ServiceClock {
  /** The clock of this machine. */
  readonly now: () => Date
  /** Whether the service's instants are taken as they are, since this machine's clock is wrong. */
  readonly trusted: boolean
}

/** Clocks that differ less are taken for right: that of a service may go by another time zone. */
const MOST_APART_MS = 86_400_000

const text = (ms: number): string => new Date(ms).toISOString()

const differs = (action: string, says: string, expected: string): ToolkitError =>
  new ToolkitError(
    'CLOCK_DIFFERS',
    `${action}: ${says}, expected ${expected}; --trust-clock takes the service's instants as they are`,
  )

/**
 * The `Date` of an answer in milliseconds since 1970; where it has none, the clock of this machine.
 *
 * @throws {ToolkitError} CLOCK_DIFFERS
 */
export const answeredAt = (
  action: string,
  { date }: AnswerHeaders,
  { now, trusted }: ServiceClock,
): number => {
  const here = now().getTime()
  const there = dateOf(date) ?? here
  if (trusted || Math.abs(there - here) <= MOST_APART_MS) return there
  const says = `the clock of the service says ${text(there)}, that of this machine ${text(here)}`
  throw differs(action, says, 'less than a day between them')
}

/** Refuses what the service says to be made later than now. @throws {ToolkitError} CLOCK_DIFFERS */
export const refuseFuture = (action: string, madeAt: number, { now, trusted }: ServiceClock): void => {
  const here = now().getTime()
  if (trusted || !(madeAt - here > MOST_APART_MS)) return
  const says = `the service says that it was made at ${text(madeAt)}, the clock of this machine says ${text(here)}`
  throw differs(action, says, 'nothing of the future')
}

/**
 * Refuses an instant of the service before one that it gave earlier: what came in between would be asked for again and
 * again, or never.
 *
 * @param last of the last pull, as the manifest has it
 * @throws {ToolkitError} CLOCK_DIFFERS
 */
export const refuseEarlier = (
  action: string,
  asOf: string,
  last: string,
  { trusted }: ServiceClock,
): void => {
  if (trusted || !(Date.parse(last) - Date.parse(asOf) > MOST_APART_MS)) return
  throw differs(
    action,
    `the clock of the service says ${asOf}, the last pull from it was at ${last}`,
    'none more than a day before that',
  )
}
