/** The result of one expectation or rule about a lake, and the error where some fail. */

import { formatBeside, formatCount, formatPercent, formatSpan } from '../support/format.ts'
import { type ErrorCode, ToolkitError } from './errors.ts'

/** An expectation or rule. */
export interface CheckResult {
  readonly name: string
  /** A rule with findings of which none is above a note has the status `note`, and does not fail. */
  readonly status: 'passed' | 'failed' | 'note'
  /**
   * The value found, in the unit of the name: seconds, records, a share; for a rule its findings above a note, or its
   * notes.
   */
  readonly value: number | null
  /** The largest value that passes, for `companies` the least, in the unit of `value`; absent where nothing may be found. */
  readonly limit?: number
  /** The same in words. */
  readonly expected: string
}

/** A result as it is kept with the snapshot of its load. */
export interface KeptResult extends CheckResult {
  /** Ids of companies, or of entities, whose rows a rule of one's own finds as errors: at most 100. */
  readonly keys?: readonly string[] | undefined
}

/** The value found and the limit, in words: `26.5 h`, `9.5 %`, `1,234`. */
export const valueStrings = (name: string, value: number, limit = value) => {
  const isShare = name.startsWith('fall_') || name.endsWith('_share')
  return formatBeside(
    value,
    limit,
    name.endsWith('_seconds') ? formatSpan : isShare ? formatPercent : formatCount,
  )
}

/** The value found, in words. */
export const foundText = ({ name, value, limit }: Pick<CheckResult, 'name' | 'value' | 'limit'>): string =>
  value === null ? 'nothing' : valueStrings(name, value, limit)[0]

/** Checks that failed, in one line: `scale (found 512, expected no finding)`. */
export const failedText = (checks: readonly CheckResult[]): string =>
  checks.map((one) => `${one.name} (found ${foundText(one)}, expected ${one.expected})`).join(', ')

/** Checks fail in a lake, or in a load that is held back. Its message has names and numbers, and no content of a record. */
export class ChecksFailed extends ToolkitError {
  readonly checks: readonly CheckResult[]
  constructor(
    code: Extract<ErrorCode, 'CHECK_FAILED' | 'LOAD_HELD'>,
    message: string,
    context: ToolkitError['context'],
    checks: readonly CheckResult[],
  ) {
    super(code, message, context)
    this.checks = checks
  }
}
