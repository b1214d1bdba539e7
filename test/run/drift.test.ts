/** The drift of a snapshot stays within its bound, whatever the runs of a lake bring. */

import { expect, test } from 'vitest'
import type { Snapshot } from '../../src/core/partition.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { companyLine, openBench } from './batch-bench.ts'

const fields = (count: number, from: number): object =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`New${from + at}`, 1]))

const namesOf = ({ partitions, merged = [] }: Snapshot): readonly string[] => [
  ...new Set(
    [...merged, ...partitions].flatMap(({ drift }) =>
      drift.flatMap(({ kind, name }) => (kind === 'more' ? [] : [name])),
    ),
  ),
]
const moreOf = ({ partitions, merged = [] }: Snapshot): number =>
  [...merged, ...partitions].flatMap(({ drift }) => drift).reduce((sum, { names = 0 }) => sum + names, 0)

test('runs write so many names into the drift of the lake and not more, blocks and sources and runs together', async () => {
  const one = openBench(await temporaryFolder())
  const limits = { maxUnknownNames: 50, blockBytes: 2000 }
  await one.write('a.jsonl', [companyLine(1, fields(40, 0)), companyLine(2, fields(40, 40))])
  await one.write('b.jsonl', [companyLine(3, fields(40, 80))])
  await one.run(['a.jsonl'], { limits })
  expect(namesOf(await one.snapshot())).toHaveLength(50)
  await one.run(['b.jsonl'], { limits })
  const snapshot = await one.snapshot()
  expect(namesOf(snapshot)).toHaveLength(50)
  expect(moreOf(snapshot)).toBe(70)
  expect(snapshot.partitions.at(-1)?.drift).toEqual([
    { kind: 'more', name: 'and 40 more', names: 40, records: 1 },
  ])
})
