/** The pages of the report, in their order. */

import { business } from './pages/business.ts'
import { changes } from './pages/changes.ts'
import { coverage } from './pages/coverage.ts'
import { drift } from './pages/drift.ts'
import { loads, type NightChoice } from './pages/loads.ts'
import { overview } from './pages/overview.ts'
import { quality } from './pages/quality.ts'
import { quarantine } from './pages/quarantine.ts'
import type { ReportPage } from './section.ts'

/** Settings that decide which pages a report has. */
export interface PageChoice {
  /** Line items with a heat map of their own. */
  readonly lineItems: readonly string[]
  /** Names of all rules on the data. */
  readonly rules: readonly string[]
  /** Facts about nights that the lake's snapshot does not have. @default none: nor does the caller see the runs */
  readonly nights?: NightChoice
}

export const pagesOf = ({ lineItems, rules, nights }: PageChoice): readonly ReportPage[] => [
  overview,
  loads(nights),
  business,
  coverage(lineItems),
  changes,
  drift,
  quarantine,
  quality(rules),
]
