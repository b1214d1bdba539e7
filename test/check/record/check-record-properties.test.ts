import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkBlock } from '../../../src/check/check-block.ts'
import { RecordChecker } from '../../../src/check/record/check-record.ts'
import type { Content } from '../../../src/contract/objects.ts'
import { newSeenSets } from '../../../src/rows/seen-sets.ts'
import { blockOf, Workbench } from '../../load/loaded-lake.ts'
import { mutatedLines } from '../../load/mutations.ts'
import { recordLines } from '../../load/records.ts'
import { canonicalAll, idOf } from '../../load/same-record.ts'
import { isValid } from '../../load/valid-record.ts'

let bench: Workbench
beforeAll(async () => {
  bench = await Workbench.open()
})
afterAll(() => bench.close())

const BOM = Buffer.from('\ufeff')
const withoutBom = (line: Buffer): Buffer =>
  line.subarray(0, BOM.length).equals(BOM) ? line.subarray(BOM.length) : line
const bytesOf = (lines: readonly Buffer[]): Buffer =>
  Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\n')]))
const CONTENTS = ['companies', 'relations'] as const satisfies Content[]

describe.each(CONTENTS)('lines of %s', (content) => {
  test('are accepted by the checker where they are valid by the contract, and only there', () => {
    const verdicts = { accepted: 0, refused: 0 }
    fc.assert(
      fc.property(mutatedLines(recordLines(content, 10)), (lines) => {
        const { rejected } = checkBlock(blockOf(bytesOf(lines)), new RecordChecker(content, newSeenSets()))
        const refused = new Map(rejected.map(({ line, reason }) => [line, reason]))
        for (const [at, line] of lines.entries()) {
          const valid = isValid(withoutBom(line), content)
          verdicts[valid ? 'accepted' : 'refused']++
          if (valid === refused.has(at + 1)) {
            throw new Error(`${valid ? `Refused (${refused.get(at + 1)})` : 'Accepted'}: ${line}`)
          }
        }
      }),
      { numRuns: 80 },
    )
    expect(Math.min(verdicts.accepted, verdicts.refused)).toBeGreaterThan(50)
  })

  test('that the checker accepts are taken by DuckDB and restored equal', async () => {
    await fc.assert(
      fc.asyncProperty(mutatedLines(recordLines(content, 60)), async (lines) => {
        const lake = await bench.load({ content, lines: bytesOf(lines) })
        const refused = new Set(lake.rejected.map(({ line }) => line))
        const good = lines
          .filter((_line, at) => !refused.has(at + 1))
          .map((line) => withoutBom(line).toString('utf8'))
        const current = new Map(good.map((line) => [idOf(line, content), line]))
        expect(await lake.quarantine()).toHaveLength(lake.rejected.length)
        expect(canonicalAll(await lake.givenBack(), content)).toEqual(canonicalAll(current.values(), content))
      }),
      { numRuns: 3, endOnFailure: true },
    )
  })

  test('made from the contract, unknown fields included, are restored equal', async () => {
    await fc.assert(
      fc.asyncProperty(recordLines(content, 60), async (lines) => {
        const lake = await bench.load({ content, lines })
        expect(await lake.quarantine()).toEqual([])
        expect(canonicalAll(await lake.givenBack(), content)).toEqual(canonicalAll(lines, content))
      }),
      { numRuns: 3, endOnFailure: true },
    )
  })
})
