/** Lines of code below `src/` without comments, for tests of what the code asks where. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SRC = fileURLToPath(new URL('../../src', import.meta.url))

/** @returns `storage/s3/s3-store.ts: line` for each line of code that a pattern is in, in files that are not left out */
export const codeWith = async (pattern: RegExp, excluded: RegExp): Promise<readonly string[]> => {
  const names = (await readdir(SRC, { recursive: true })).map((name) => name.replaceAll('\\', '/'))
  const found: string[] = []
  for (const name of names.filter((one) => one.endsWith('.ts') && !excluded.test(one)).sort())
    for (const line of (await readFile(join(SRC, name), 'utf8')).split('\n'))
      if (!/^\s*(\/\*\*|\*|\/\/)/.test(line) && pattern.test(line)) found.push(`${name}: ${line.trim()}`)
  return found
}
