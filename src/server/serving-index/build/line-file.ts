/** Lines of a temporary file that DuckDB reads back. Synchronous: nothing else is done meanwhile. */

import { closeSync, openSync, writeSync } from 'node:fs'
import { PRIVATE_FILE } from '../../../support/file-modes.ts'

const WRITE_CHARACTERS = 1 << 18

export class LineFile {
  readonly #file: number
  #text = ''
  #open = true

  constructor(path: string) {
    this.#file = openSync(path, 'wx', PRIVATE_FILE)
  }

  add(line: string): void {
    this.#text += `${line}\n`
    if (this.#text.length >= WRITE_CHARACTERS) this.#flush()
  }

  /** Writes what is left and closes the file. */
  finish(): void {
    this.#flush()
    this.close()
  }

  /** Closes the file as it is. */
  close(): void {
    if (this.#open) closeSync(this.#file)
    this.#open = false
  }

  #flush(): void {
    const bytes = Buffer.from(this.#text)
    this.#text = ''
    // A write may take only a part, also just before the disk is full.
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#file, bytes, done)
  }
}
