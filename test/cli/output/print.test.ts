import { once } from 'node:events'
import { PassThrough, type Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { print, printedStream, printLines } from '../../../src/cli/output/print.ts'

/** What reaches standard output, which is a terminal or a file. */
const printed = async (isTTY: boolean, use: () => Promise<void>): Promise<string> => {
  const { stdout } = process
  const output = Object.assign(new PassThrough(), { isTTY })
  const replace = (value: Writable): void => {
    Object.defineProperty(process, 'stdout', { value, configurable: true, enumerable: true })
  }
  replace(output)
  try {
    await use()
  } finally {
    replace(stdout)
  }
  return String(output.read() ?? '')
}

const TEXT = 'id,name\r\n1,"\u001b]0;title\u0007\u009b2J\r x\ty\u202e"\r\n'
const SHOWN = 'id,name\r\n1,"\\u001b]0;title\\u0007\\u009b2J\\u000d x\ty\\u202e"\r\n'

test('print shows control characters on a terminal, and writes a file as it is', async () => {
  expect(await printed(true, () => print(TEXT))).toBe(SHOWN)
  expect(await printed(false, () => print(TEXT))).toBe(TEXT)
})

test('lines that were laid out here keep their colours and steer nothing else', async () => {
  const lines = ['\u001b[31merror\u001b[39m', 'x\u001b[2J']
  expect(await printed(true, () => printLines(lines))).toBe('\u001b[31merror\u001b[39m\nx\\u001b[2J\n')
})

test('a stream of rows to a terminal does the same', async () => {
  const write = async (): Promise<void> => {
    const stream = printedStream()
    stream.end(TEXT)
    await once(stream, 'finish')
  }
  expect(await printed(true, write)).toBe(SHOWN)
})
