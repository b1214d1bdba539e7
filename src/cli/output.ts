/** Standard output and standard error: results go to the first, everything else to the second. */

import { once } from 'node:events'
import { EXIT } from './exit-codes.ts'

/** Writes text to standard output, waiting while its reader is slow. */
export const print = async (text: string): Promise<void> => {
  if (text !== '' && !process.stdout.write(text)) await once(process.stdout, 'drain')
}

export const printLines = (lines: readonly string[]): Promise<void> =>
  print(lines.map((line) => `${line}\n`).join(''))

/** One JSON document, laid out for people too. */
export const printJson = (value: unknown): Promise<void> => print(`${JSON.stringify(value, null, 2)}\n`)

/** A remark beside the result. */
export const note = (text: string): void => {
  process.stderr.write(`${text}\n`)
}

/**
 * A reader that has enough (`| head`) ends the command quietly: with 0, or with what the command found out
 * before it began to print.
 */
export const endWhenNobodyReads = (): void => {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(process.exitCode ?? EXIT.done)
    note(`error WRITE_FAILED: Cannot write to standard output: ${error.message}`)
    process.exit(EXIT.failed)
  })
  // Without a reader of remarks the work goes on.
  process.stderr.on('error', () => undefined)
}
