import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Workbench } from './loaded-lake.ts'
import { recordLines } from './records.ts'
import { canonicalAll } from './same-record.ts'

let bench: Workbench
beforeAll(async () => {
  bench = await Workbench.open()
}, 300000)
afterAll(() => bench.close())
for (const content of ['companies', 'relations'] as const)
  test('round trip of arbitrary ' + content, async () => {
    await fc.assert(
      fc.asyncProperty(recordLines(content, 40), async (lines) => {
        const lake = await bench.load({ content, lines })
        expect([lake.rejected, await lake.quarantine()]).toEqual([[], []])
        expect(canonicalAll(await lake.givenBack(), content)).toEqual(canonicalAll(lines, content))
      }),
      { numRuns: 150 },
    )
  })
