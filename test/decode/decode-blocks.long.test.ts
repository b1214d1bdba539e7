/** Lines far beyond what may be held. */

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { brotliCompressSync, constants } from 'node:zlib'
import { expect, test } from 'vitest'

/** Decodes a Brotli file in a process of its own; gives the outcome and that process's peak memory in MiB. */
const decodedApart = async (bytes: Buffer, maxRatio: number) => {
  const program = `
    const { decodeBlocks } = await import(${JSON.stringify(import.meta.resolve('../../src/decode/decode-blocks.ts'))})
    const source = async function* () { yield Buffer.from(process.argv[1], 'base64') }
    let outcome = []
    let peak = 0
    const watch = setInterval(() => { peak = Math.max(peak, process.memoryUsage.rss()) }, 5)
    try {
      for await (const block of decodeBlocks(source, { name: 'a.br', maxRatio: ${maxRatio} })) {
        for (const { head, ...line } of block.overlong) outcome.push(line)
      }
    } catch (error) { outcome = error.code }
    clearInterval(watch)
    console.log(JSON.stringify({ outcome, peakMib: peak / 2 ** 20 }))`
  const flags = ['--no-warnings', '--max-old-space-size=32', '--input-type=module', '-e', program]
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, bytes.toString('base64')])
  return JSON.parse(stdout) as { outcome: unknown; peakMib: number }
}

const quickBrotli = (bytes: Buffer) =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 2 } }) as Buffer

test('decodeBlocks passes over a line of 256 MiB without holding it', async () => {
  const { outcome, peakMib } = await decodedApart(quickBrotli(Buffer.alloc(256 << 20, 'x')), 1e9)
  expect(outcome).toEqual([{ line: 1, offset: 0, sizeBytes: 256 << 20 }])
  expect(peakMib).toBeLessThan(200)
})
