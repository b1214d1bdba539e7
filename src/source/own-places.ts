/** Which files are firmlake's own: those below a lake, or below a folder that a lake delivers to. No file is opened to find out. */

import { lstat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { MANIFEST_FOLDER } from '../lake/files/layout.ts'

/** A lake has the first; a folder that runs are delivered to has the others. */
const MARKS = [MANIFEST_FOLDER, '_loaded', '_lake']

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )

/** Looks at each folder once. */
export class OwnPlaces {
  readonly #known = new Map<string, Promise<boolean>>()

  /** @param path of a file, absolute; a link in it is not followed */
  has(path: string): Promise<boolean> {
    return this.#isOwn(dirname(path))
  }

  #isOwn(folder: string): Promise<boolean> {
    const known = this.#known.get(folder) ?? this.#look(folder)
    this.#known.set(folder, known)
    return known
  }

  async #look(folder: string): Promise<boolean> {
    const above = dirname(folder)
    if (above !== folder && (await this.#isOwn(above))) return true
    for (const mark of MARKS) if (await exists(join(folder, mark))) return true
    return false
  }
}
