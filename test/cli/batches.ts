/** Small batch files out of the sample. */

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { SAMPLE_COMPANIES } from './run-cli.ts'

/** The first company lines of the sample. */
export const companyLines = async (count: number): Promise<string[]> => {
  const text = brotliDecompressSync(await readFile(SAMPLE_COMPANIES)).toString('utf8')
  return text.split('\n').slice(0, count)
}

/** Bytes of a file that shares its partition with no other. */
export const OWN_PARTITION_BYTES = 1_200_000

/**
 * Writes so many files of ten companies each; blank lines make each file another one.
 *
 * @param leastBytes of a file: blanks fill its lines up
 */
export const writeBatches = async (folder: string, files: number, minBytes = 0): Promise<void> => {
  const lines = (await companyLines(10)).map((line) => line.padEnd(minBytes / 10))
  for (let file = 0; file < files; file += 1) {
    const name = `batch-${String(file).padStart(3, '0')}.jsonl`
    await writeFile(join(folder, name), `${lines.join('\n')}${'\n'.repeat(file + 1)}`)
  }
}
