/**
 * How far the work is, on standard error: one line that is rewritten on a terminal, elsewhere (a log)
 * plain lines, seldom.
 */

import { stoppingSignal } from '../interrupt.ts'
import { CLEAR_LINE, isWritten, logsJson, writeLog } from './log.ts'
import { cutToWidth, printable } from './text-table.ts'

interface ProgressTarget {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/** Least time between two states shown, in milliseconds: a terminal is read, a log is kept. */
const TERMINAL_EVERY_MS = 100
const LOG_EVERY_MS = 5000

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

  /** The state now; shown only when the last one has stood long enough, so `text` is made only then. */
  show(text: () => string, facts?: object): void {
    const json = logsJson()
    const everyMs = json ? LOG_EVERY_MS : this.#everyMs
    if (this.#nowMs() - this.#shownMs < everyMs || this.#stopped()) return
    if ((this.#silent && !json) || !isWritten('')) return
    this.#shownMs = this.#nowMs()
    if (json || this.#target.isTTY !== true) {
      this.log(text(), facts)
      return
    }
    // A terminal that does not know its width says 0.
    const width = this.#target.columns || 80
    this.#target.write(CLEAR_LINE + cutToWidth(printable(text()), width - 1))
    this.#standing = true
  }

  /** Takes the state away, before anything else is written. */
  clear(): void {
    if (this.#standing) this.#target.write(CLEAR_LINE)
    this.#standing = false
  }
}
