/** Lines of batch files, and members of what JSON.parse makes of them. */

import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream'
import { createBrotliDecompress } from 'node:zlib'

type Members = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A member of an object; nothing where there is no object. */
export const memberOf = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined)
export const entriesOf = (value: unknown): [string, unknown][] =>
  isObject(value) ? Object.entries(value) : []

export async function* linesOf(file: string): AsyncGenerator<string> {
  // readline would also split at U+2028, which JSON allows in texts.
  const decoder = createBrotliDecompress({ chunkSize: 1 << 20 })
  pipeline(createReadStream(file), decoder, () => undefined)
  decoder.setEncoding('utf8')
  let rest = ''
  for await (const chunk of decoder as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}
