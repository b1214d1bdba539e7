/** A named question of the explorer: a form for its parameters, and statements of our own. Nobody sends SQL. */

import type { CommittedPartition } from '../../core/partition.ts'
import type { RowLoad } from '../../manifest/snapshots/partitions-of.ts'
import { type Form, form } from '../../support/json-form.ts'

/** A table: rows as lists, in the order of the columns. */
export interface AnswerTable {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
}

export interface QuestionAnswer extends AnswerTable {
  /** The statement, where `query` knows all that it names. */
  readonly sql?: string
  /** Set where rows are left out because there are too many. */
  readonly isCut?: true
}

/** Runs a statement over what the caller may see. @param values of `$1`, `$2`, … */
export type RunStatement = (sql: string, values?: readonly string[]) => Promise<AnswerTable>

/** Whether the caller may see what a statement reads: some of it belongs to no country. */
export type MaySee = (sql: string) => boolean

/** The partitions that rows came with, as the manifest has them: for callers who see the loads. */
export type PartitionsOf = (loads: readonly RowLoad[]) => Promise<readonly CommittedPartition[]>

export interface Question {
  /** @throws {FormError} where a parameter is missing or wrong */
  readonly answer: (
    run: RunStatement,
    parameters: unknown,
    maySee: MaySee,
    partitionsOf: PartitionsOf,
  ) => Promise<QuestionAnswer>
  /** Whether its answers are kept: they cost more than a look-up, and stay the same for a snapshot. */
  readonly isKept: boolean
  /** Whether it reads the list of companies, which is worked out first. */
  readonly needsList: boolean
}

export const question = <Parameters>(
  parameters: Form<Parameters>,
  answer: (
    run: RunStatement,
    parameters: Parameters,
    maySee: MaySee,
    partitionsOf: PartitionsOf,
  ) => Promise<QuestionAnswer>,
  { isKept = false, needsList = false } = {},
): Question => ({
  answer: (run, sent, ...more) => answer(run, parameters(sent, 'the body'), ...more),
  isKept,
  needsList,
})

const MOST_ID = 2n ** 63n - 1n

/** Id of a company: a whole number, or its digits as a text, because JSON's numbers are not exact beyond 2^53. */
export const companyId: Form<number | string> = form(
  (value): value is number | string =>
    typeof value === 'string'
      ? /^\d{1,19}$/.test(value) && BigInt(value) <= MOST_ID
      : Number.isSafeInteger(value) && Number(value) >= 0,
  'the id of a company',
)

/** Rows by the names of the columns. */
export const rowObjects = ({ columns, rows }: AnswerTable): readonly Readonly<Record<string, unknown>>[] =>
  rows.map((row) => Object.fromEntries(columns.map((name, at) => [name, row[at]])))
