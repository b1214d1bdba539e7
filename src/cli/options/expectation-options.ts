/** Options of what is expected of the loads of a lake. */

import type { Command } from 'commander'
import type { ValuesOf } from '../../options/entry.ts'
import { EXPECTATIONS } from '../../options/expectations.ts'
import type { Expectations } from '../../options/interfaces.ts'
import { optionsOf } from '../add-command.ts'

/** As commander names them. */
export type ExpectationFlags = Omit<ValuesOf<typeof EXPECTATIONS>, 'maxAgeMs' | 'noNewDrift'> & {
  readonly maxAge?: number
  /** `--no-new-drift` makes it false. */
  readonly newDrift: boolean
}

export const addExpectationOptions = (command: Command): Command => {
  for (const [, one] of optionsOf(EXPECTATIONS)) command.addOption(one)
  return command
}

export const expectationsOf = (flags: ExpectationFlags): Expectations => {
  const { maxAge: maxAgeMs, maxFall, maxQuarantined, maxGap, minCompanies, newDrift } = flags
  return { maxAgeMs, maxFall, maxQuarantined, maxGap, minCompanies, noNewDrift: !newDrift }
}
