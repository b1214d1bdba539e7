/**
 * How far the work is, on standard error: one line that is rewritten on a terminal, elsewhere (a log)
 * plain lines, seldom.
 */

import { formatShare } from '../../support/format.ts'
import { stoppingSignal } from '../interrupt.ts'
import { CLEAR_LINE, isWritten, logsJson, writeLog } from './log.ts'
import { cutToWidth, printable } from './text-table.ts'
import { type Amount, barOf, TimeLeft, timeLeftText } from './time-left.ts'

interface ProgressTarget {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/** Least time between two states shown, in milliseconds: a terminal is read, a log is kept. */
const TERMINAL_EVERY_MS = 100
const LOG_EVERY_MS = 5000

/** The state of some work. */
interface Shown {
  /** How much is done; absent where nobody knows how much there is. */
  readonly amount?: Amount | undefined
  /** For a log of JSON lines. */
  readonly facts?: object
}

interface ProgressLineOptions {
  readonly target?: ProgressTarget
  readonly nowMs?: () => number
  /** Says nothing where there is no terminal: for programs, which read errors from there. @default false */
  readonly terminalOnly?: boolean
  /** Whether the work was interrupted: then nothing is shown any more. @default whether a signal came */
  readonly stopped?: () => boolean
}

export class ProgressLine {
  readonly #target: ProgressTarget
  readonly #nowMs: () => number
  readonly #silent: boolean
  readonly #everyMs: number
  readonly #stopped: () => boolean
  readonly #left = new TimeLeft()
  #shownMs: number
  #standing = false

  constructor(options: ProgressLineOptions = {}) {
    this.#target = options.target ?? process.stderr
    this.#nowMs = options.nowMs ?? (() => performance.now())
    const terminal = this.#target.isTTY === true
    this.#stopped = options.stopped ?? (() => stoppingSignal() !== undefined)
    this.#silent = !terminal && options.terminalOnly === true
    this.#everyMs = terminal ? TERMINAL_EVERY_MS : LOG_EVERY_MS
    this.#shownMs = this.#nowMs()
  }

  /** A line that stays. */
  log(text: string, facts: object = {}): void {
    if (logsJson()) writeLog(text, facts)
    else if (!this.#silent && isWritten(text)) {
      this.clear()
      this.#target.write(`${printable(text)}\n`)
    }
  }

  /**
   * The state now; shown only when the last one has stood long enough, so `text` is made only then. With an amount it has the share,
   * the time left, and on a terminal a bar.
   */
  show(text: () => string, { amount, facts }: Shown = {}): void {
    const json = logsJson()
    const everyMs = json ? LOG_EVERY_MS : this.#everyMs
    const nowMs = this.#nowMs()
    if (nowMs - this.#shownMs < everyMs || this.#stopped()) return
    if ((this.#silent && !json) || !isWritten('')) return
    this.#shownMs = nowMs
    const isLine = json || this.#target.isTTY !== true
    const shown = amount === undefined ? text() : this.#withAmount(text(), amount, isLine)
    if (isLine) {
      this.log(shown, facts)
      return
    }
    // A terminal that does not know its width says 0.
    const width = this.#target.columns || 80
    this.#target.write(CLEAR_LINE + cutToWidth(printable(shown), width - 1))
    this.#standing = true
  }

  #withAmount(text: string, amount: Amount, isLine: boolean): string {
    const left = amount.isUneven ? undefined : this.#left.after(this.#shownMs, amount)
    const share = formatShare(amount.done, amount.total)
    return [
      isLine ? share : `${barOf(amount)} ${share.padStart(5)}`,
      ...(left === undefined ? [] : [timeLeftText(left, amount.part)]),
      text,
    ].join('  ')
  }

  /** Takes the state away, before anything else is written. */
  clear(): void {
    if (this.#standing) this.#target.write(CLEAR_LINE)
    this.#standing = false
  }
}
