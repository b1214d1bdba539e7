import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { companyLine, companyLines, hashLake, openBench, relationsLine, runIn } from './batch-bench.ts'

test('a run with more threads that check than cores, many blocks and bad lines gives the lake of one without', async () => {
  const { folder, write } = openBench(await temporaryFolder())
  const doubled = [...companyLines(30), '{"bad"', companyLine(7), companyLine(8), ...companyLines(30, 100)]
  await write('a.jsonl.br', doubled, 'brotli')
  await write('b.jsonl', [...companyLines(20, 300), 'bad'])
  await write('c.jsonl', [relationsLine(1), relationsLine(2)])
  await write('d.jsonl', [])
  const inputs = ['a.jsonl.br', 'b.jsonl', 'c.jsonl', 'd.jsonl']
  const options = { limits: { blockBytes: 2000 }, maxQuarantined: { kind: 'count', lines: 5 } } as const
  const lakes = await Promise.all(
    [0, 3].map(async (checkThreads) => {
      const lake = join(folder, `lake-${checkThreads}`)
      const { summary } = await runIn(folder, lake, inputs, { ...options, checkThreads, threads: 3 })
      expect(summary.partitions.length).toBeGreaterThan(7)
      // What a run records of each partition but for its ids and files.
      const kept = summary.partitions.map(({ counts, drift, range, source }) => ({
        counts,
        drift,
        range,
        source,
      }))
      return { kept, tables: await hashLake(lake) }
    }),
  )
  const [without, withThreads] = lakes
  expect(withThreads?.kept).toEqual(without?.kept)
  const { quarantine: _, ...tables } = without?.tables ?? {}
  expect(withThreads?.tables).toMatchObject(tables)
})
