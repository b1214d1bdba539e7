/** Options of what is expected of the loads of a lake. */

import type { Command } from 'commander'
import { ToolkitError } from '../../core/errors.ts'
import type { Expectations } from '../../options/interfaces.ts'
import { parseDuration, parseShare } from '../../support/quantities.ts'
import { wholeNumber } from './options.ts'

export interface ExpectationFlags {
  readonly maxAge?: number
  readonly maxFall?: number
  readonly maxQuarantined?: number
  readonly maxGap?: number
  readonly minCompanies?: number
  /** `--no-new-drift` makes it false. */
  readonly newDrift: boolean
}

const wrong = (text: string): ToolkitError => new ToolkitError('USAGE', text)

const span = (text: string): number => {
  const ms = parseDuration(text)
  if (ms !== undefined) return ms
  throw wrong(`Cannot take "${text}" for --max-age: expected a span such as 90m, 26h or 7d`)
}

const share =
  (flag: string) =>
  (text: string): number => {
    const found = parseShare(text)
    if (found !== undefined) return found
    throw wrong(`Cannot take "${text}" for ${flag}: expected a percentage such as 5%`)
  }

export const addExpectationOptions = (command: Command): Command =>
  command
    .option('--max-age <span>', 'longest time since the newest load began: 90m, 26h, 7d', span)
    .option(
      '--max-fall <percent>',
      'how much fewer records than the whole pull or sync before the newest may find',
      share('--max-fall'),
    )
    .option(
      '--max-quarantined <percent>',
      'largest share of bad lines in the newest load',
      share('--max-quarantined'),
    )
    .option(
      '--max-gap <n>',
      'most records that the newest pull of a search missed',
      wholeNumber('--max-gap', 0),
    )
    .option('--min-companies <n>', 'least number of current companies', wholeNumber('--min-companies'))
    .option('--no-new-drift', 'fail on names that are unknown and that no earlier load had')

export const expectationsOf = (flags: ExpectationFlags): Expectations => {
  const { maxAge: maxAgeMs, maxFall, maxQuarantined, maxGap, minCompanies, newDrift } = flags
  return { maxAgeMs, maxFall, maxQuarantined, maxGap, minCompanies, noNewDrift: !newDrift }
}
