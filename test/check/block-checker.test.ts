import { availableParallelism } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { emptyControl } from '../../data/control.ts'
import { linesOf } from '../../data/sample.ts'
import { type Checkers, type HeldBlock, openCheckers } from '../../src/check/block-checker.ts'
import type { Block } from '../../src/core/lines.ts'
import { financialsTable } from '../../src/load/figure-tables.ts'
import { madeRows } from '../campaign/made-rows.ts'

const OPTIONS = {
  companies: 240,
  seed: 5,
  files: 1,
  small: true,
  awkward: 0.3,
  content: ['companies'],
} as const
const LINES = [...linesOf('companies', OPTIONS, emptyControl())]

/** Blocks of some lines each, some of them bad. */
const blocksOf = (lines: readonly string[], atOnce: number): Block[] =>
  Array.from({ length: Math.ceil(lines.length / atOnce) }, (_, at) => {
    const some = lines.slice(at * atOnce, (at + 1) * atOnce)
    const bytes = Buffer.from(`${some.join('\n')}\n{"bad"\n\n${lines[at]}\n`)
    return { bytes, firstLine: 1 + at * 1000, offset: at * 1e6, overlong: [] }
  })

const shared = (block: Block): Block => {
  const bytes = Buffer.from(new SharedArrayBuffer(block.bytes.length))
  block.bytes.copy(bytes)
  return { ...block, bytes }
}

/** What a check found, in words: names in place of codes. */
const shown = ({ bytes }: Block, { parts, release: _, ...checked }: HeldBlock): object => ({
  ...checked,
  parts: parts.map((part) => {
    const { rows, members } = part
    const { columns } = financialsTable({ part, bytes, odd: undefined })
    const nameAt = (column: number, code: number | undefined): string => {
      const type = columns[column]?.type
      return typeof type === 'object' && 'textOf' in type && code !== undefined ? type.textOf(code) : ''
    }
    const { figures, headcounts } = rows
    const { statement, category, lineItem, end } = figures.series.columns
    const series = Array.from({ length: figures.series.length }, (_, at) => [
      statement[at],
      nameAt(3, category[at]),
      nameAt(4, lineItem[at]),
      end[at],
    ])
    return {
      ...{ members, series, extras: [...rows.extras] },
      countries: members.map((member) => nameAt(1, rows.records.columns.country[member])),
      ids: members.map((member) => rows.records.columns.id[member]),
      values: [...figures.figures.columns.value.slice(0, figures.figures.length)],
      years: [...figures.figures.columns.year.slice(0, figures.figures.length)],
      headcounts: [...headcounts.figures.columns.value.slice(0, headcounts.figures.length)],
    }
  }),
})

const checkAll = async (checkers: Checkers, blocks: readonly Block[], atOnce: number): Promise<object[]> => {
  const checker = checkers.of('companies', { listAllItems: true })
  const found: object[] = []
  for (let at = 0; at < blocks.length; at += atOnce) {
    const some = blocks.slice(at, at + atOnce)
    const held = await Promise.all(some.map((block) => checker.check(block)))
    for (const [place, block] of some.entries()) {
      const one = held[place]
      if (one !== undefined) found.push(shown(block, one))
    }
    for (const { release } of held) release()
  }
  await checkers.close()
  return found
}

const MORE_THAN_CORES = availableParallelism() + 1

test('checkers on more threads than cores find what those on the own thread find, block by block', async () => {
  const own = await checkAll(openCheckers(), blocksOf(LINES, 12), 1)
  expect(own).toHaveLength(20)
  const threads = openCheckers({ threads: MORE_THAN_CORES })
  expect(threads.of('companies').atOnce).toBe(MORE_THAN_CORES)
  const blocks = blocksOf(LINES, 12).map((block, at) => (at % 3 === 0 ? block : shared(block)))
  expect(await checkAll(threads, blocks, 9)).toEqual(own)
})

test('a checker uses the memory of columns again that was given back, and no other', async () => {
  for (const threads of [0, 1]) {
    const checkers = openCheckers({ threads })
    const checker = checkers.of('companies')
    const [first, second, third] = blocksOf(LINES, 12)
    if (first === undefined || second === undefined || third === undefined) throw new Error('Too few blocks')
    const held = await checker.check(first)
    const values = held.parts[0]?.rows.figures.figures.columns.value
    const before = values?.slice()
    const next = await checker.check(second)
    expect(next.parts[0]?.rows.figures.figures.columns.value.buffer).not.toBe(values?.buffer)
    expect(values).toEqual(before)
    held.release()
    const last = await checker.check(third)
    expect(last.parts[0]?.rows.records.length).toBeGreaterThan(0)
    if (threads === 0) expect(last.parts[0]?.rows.figures.figures.columns.value.buffer).toBe(values?.buffer)
    await checkers.close()
  }
})

test('a block that is a line longer than the one before uses its memory again', async () => {
  for (const threads of [0, 1]) {
    const checkers = openCheckers({ threads })
    const sizes: (number | undefined)[] = []
    for (const lines of [LINES.length - 1, LINES.length]) {
      const [block] = blocksOf(LINES.slice(0, lines), lines)
      const held = block && (await checkers.of('companies').check(block))
      sizes.push(held?.parts[0]?.rows.figures.figures.columns.value.buffer.byteLength)
      held?.release()
    }
    expect(sizes[1]).toBe(sizes[0])
    await checkers.close()
  }
})

test('a checker on the own thread lets others have it in between', async () => {
  const checkers = openCheckers()
  const [block] = blocksOf(LINES, LINES.length)
  if (block === undefined) throw new Error('No block')
  let turns = 0
  let done = false
  const checking = checkers
    .of('companies')
    .check(block)
    .finally(() => {
      done = true
    })
  while (!done) {
    turns++
    await setImmediate()
  }
  await checking
  expect(turns).toBeGreaterThan(block.bytes.length / 65_536 / 2)
})

test('close ends threads that are at work', async () => {
  const checkers = openCheckers({ threads: 2 })
  const checker = checkers.of('companies')
  const blocks = blocksOf(LINES, LINES.length)
  for (const block of blocks) void checker.check(block).catch(() => undefined)
  await setImmediate()
  await checkers.close()
})

test('threads make the same rows of relations', async () => {
  const options = { ...OPTIONS, companies: 120, content: ['relations'] } as const
  const lines = [...linesOf('relations', options, emptyControl())]
  const blocks = blocksOf(lines, 15)
  const rowsOf = async (checkers: Checkers): Promise<string[][]> => {
    const checker = checkers.of('relations')
    const found: string[][] = []
    for (const block of blocks) {
      const { parts, release } = await checker.check(block)
      for (const { rows, members } of parts)
        for (const record of members) found.push(madeRows(rows, record, block.bytes))
      release()
    }
    await checkers.close()
    return found
  }
  const own = await rowsOf(openCheckers())
  expect(own.length).toBeGreaterThan(lines.length)
  expect(await rowsOf(openCheckers({ threads: 2 }))).toEqual(own)
})
