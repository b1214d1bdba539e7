/** Options of what is expected of the loads of a lake. */

import type { Command } from 'commander'
import { ToolkitError } from '../../core/errors.ts'
import type { Expectations } from '../../jobs/check-loads.ts'
import { wholeNumber } from './options.ts'

export interface ExpectationFlags {
  readonly maxAge?: number
  readonly maxFall?: number
  readonly maxQuarantined?: number
  readonly maxGap?: number
  /** `--no-new-drift` makes it false. */
  readonly newDrift: boolean
}

const wrong = (text: string): ToolkitError => new ToolkitError('USAGE', text)

const UNITS_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const span = (text: string): number => {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  if (unit === 'm' || unit === 'h' || unit === 'd') return Number(count) * UNITS_MS[unit]
  throw wrong(`Cannot take "${text}" for --max-age: expected a span such as 90m, 26h or 7d`)
}

const share =
  (flag: string) =>
  (text: string): number => {
    const percent = /^(\d{1,3}(?:\.\d+)?)%$/.exec(text)?.[1]
    if (percent !== undefined && Number(percent) <= 100) return Number(percent) / 100
    throw wrong(`Cannot take "${text}" for ${flag}: expected a percentage such as 5%`)
  }

export const addExpectationOptions = (command: Command): Command =>
  command
    .option('--max-age <span>', 'longest time since the newest load began: 90m, 26h, 7d', span)
    .option(
      '--max-fall <percent>',
      'how much fewer records than the load before the newest has',
      share('--max-fall'),
    )
    .option(
      '--max-quarantined <percent>',
      'largest share of bad lines in the newest load',
      share('--max-quarantined'),
    )
    .option('--max-gap <n>', 'most records that the newest pull of a search missed', wholeNumber('--max-gap'))
    .option('--no-new-drift', 'fail on names that are unknown and that no earlier load had')

export const expectationsOf = (flags: ExpectationFlags): Expectations => {
  const { maxAge: maxAgeMs, maxFall, maxQuarantined, maxGap, newDrift } = flags
  return { maxAgeMs, maxFall, maxQuarantined, maxGap, noNewDrift: !newDrift }
}
