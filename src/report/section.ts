/** A page of the report: a title, one statement, and how its rows are drawn. Knows no lake. */

import type { Chart } from './charts.ts'
import type { ReportRow } from './rows.ts'

/** The answer to a section's statement. */
export interface SectionAnswer {
  readonly columns: readonly string[]
  readonly rows: readonly ReportRow[]
}

/** One statement with its chart and its table. */
export interface Section {
  readonly id: string
  readonly title: string
  /** The meaning of the rows, in a sentence. */
  readonly about: string
  /** Runs in `query` as it stands here. */
  readonly sql: string
  /** The rows that the statement ends with, where it has a LIMIT. */
  readonly most?: number
  readonly chart?: (rows: readonly ReportRow[]) => Chart
  /** Text shown when there are no rows. */
  readonly none: string
}

/** A page: a heading of its own in the navigation. */
export interface ReportPage {
  readonly id: string
  readonly title: string
  readonly sections: readonly Section[]
}
