/** Reads batch files back, plainly and in memory. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'

export type Json = Readonly<Record<string, unknown>>

export const decodedText = async (directory: string, name: string): Promise<string> =>
  brotliDecompressSync(await readFile(join(directory, name))).toString('utf8')

export const decodedRecords = async (directory: string, names: readonly string[]): Promise<Json[]> => {
  const strings = await Promise.all(names.map((name) => decodedText(directory, name)))
  return strings.flatMap((text) =>
    text
      .trimEnd()
      .split('\n')
      .map((line): Json => JSON.parse(line)),
  )
}

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
export const asObject = (value: unknown): Json => (isObject(value) ? value : {})
export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
