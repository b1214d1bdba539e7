/** The pages of the report, in their order. */

import { changes } from './pages/changes.ts'
import { coverage } from './pages/coverage.ts'
import { drift } from './pages/drift.ts'
import { loads } from './pages/loads.ts'
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
}

export const pagesOf = ({ lineItems, rules }: PageChoice): readonly ReportPage[] => [
  overview,
  loads,
  coverage(lineItems),
  drift,
  quarantine,
  changes,
  quality(rules),
]
