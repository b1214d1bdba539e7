/** The section `[check]` of firmlake.toml as what is asked of a lake, and of its loads. */

import type { FileSettings } from '../config/definition.ts'
import type { Expectations, LoadCheck } from '../options/interfaces.ts'
import { readRules } from './read-rules.ts'

export type CheckSection = NonNullable<FileSettings['check']>

export const expectationsOf = (section: CheckSection): Expectations => ({
  ...{
    maxAgeMs: section.max_age,
    maxUnlookedMs: section.max_unlooked,
    maxFall: section.max_fall,
    maxRestated: section.max_restated,
  },
  ...{ maxQuarantined: section.max_quarantined, maxGap: section.max_gap },
  ...{ minCompanies: section.min_companies, noNewDrift: section.new_drift === false },
})

export const rulesOfSection = async ({ rules }: CheckSection): Promise<Readonly<Record<string, string>>> =>
  rules === undefined ? {} : readRules(rules)

/** The checks of a load before it is shown. @throws {ToolkitError} USAGE, TEXT_NOT_UTF8 where its rules cannot be read */
export const loadCheckOf = async (section: CheckSection = {}): Promise<LoadCheck> => {
  const { maxAgeMs: _age, maxUnlookedMs: _unlooked, ...expected } = expectationsOf(section)
  const { data, held, only, skip, limits } = section
  return { ...expected, data, held, only, skip, limits, rules: await rulesOfSection(section) }
}
