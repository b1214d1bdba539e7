/** A page of the report: a title, statements, and how their rows are drawn. Knows no lake. */

import type { Html } from './html.ts'
import type { Numbers } from './numbers.ts'
import type { ReportRow } from './rows.ts'

/** The answer to a section's statement. */
export interface SectionAnswer {
  readonly columns: readonly string[]
  readonly rows: readonly ReportRow[]
}

/** The reader's language of numbers, and where companies are found. */
export interface Surroundings {
  readonly numbers: Numbers
  /** Address of a company's own page or row. */
  readonly companyHref: (internalId: string) => string
  /** Level of a section's heading. @default 3 */
  readonly level?: 2 | 3
  /** A link beside the numbers and the statement. @default none */
  readonly csv?: Html
}

/** A statement with its drawing and its table. */
export interface Section {
  readonly id: string
  readonly title: string
  /** The meaning of the rows, in a sentence. */
  readonly about: string
  /** Runs in `query` as it stands here. */
  readonly sql: string
  /** The rows that the statement ends with, where it has a LIMIT. */
  readonly most?: number
  /** Columns of twelve that its card takes. @default 12 */
  readonly span?: 4 | 6 | 8
  /** Whether it stands below the cards, folded. */
  readonly isFolded?: boolean
  /** @default the first rows as a table */
  readonly draw?: (rows: readonly ReportRow[], around: Surroundings) => Html
  /** Text shown when there are no rows. */
  readonly none: string
}

/** Rows of a section by its id; none where it has no answer. */
export type RowsOf = (section: string) => readonly ReportRow[]

/** A page: a heading of its own in the navigation. */
export interface ReportPage {
  readonly id: string
  readonly title: string
  /** Said in place of its sections where none of them has a row: without one in the first there is none in the others. */
  readonly none?: string
  /** The answer before the evidence, in a sentence or two. */
  readonly lead?: (rowsOf: RowsOf, numbers: Numbers) => Html
  /** A number beside its name in the navigation, where it is above 0. */
  readonly count?: (rowsOf: RowsOf) => number
  /** Whether it shares a row with the next such page. */
  readonly isHalf?: boolean
  readonly sections: readonly Section[]
}
