import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Workbench } from './loaded-lake.ts'
import { mutatedLines } from './mutations.ts'
import { recordLines } from './records.ts'
import { canonicalAll, idOf } from './same-record.ts'
import { isValid } from './valid-record.ts'
import { newSeenSets, RecordChecker } from '../../src/load/check-record.ts'
import { checkBlock } from '../../src/load/check-block.ts'
import { blockOf } from './loaded-lake.ts'

let bench: Workbench
beforeAll(async () => { bench = await Workbench.open() })
afterAll(() => bench.close())
for (const content of ['companies', 'relations'] as const) {
test('oracle ' + content, () => {
  let ok = 0, all = 0
  fc.assert(fc.property(mutatedLines(recordLines(content, 10)), (lines) => {
    const bytes = Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\n')]))
    const { rejected } = checkBlock(blockOf(bytes), new RecordChecker(content, newSeenSets()))
    const bad = new Map(rejected.map((x) => [x.line, x]))
    lines.forEach((line, at) => {
      const valid = isValid(line.subarray(line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf ? 3 : 0), content)
      all++; if (valid) ok++
      if (valid === bad.has(at + 1)) throw new Error(`${valid ? 'valid but ' + bad.get(at+1)?.code + bad.get(at+1)?.reason : 'invalid but accepted'}: ${line.toString()}`)
    })
  }), { numRuns: 20 })
  console.log(content, ok, all)
}, 200000)
test('mutated ' + content, async () => {
  await fc.assert(fc.asyncProperty(mutatedLines(recordLines(content, 40)), async (lines) => {
    const bytes = Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\n')]))
    const lake = await bench.load({ content, lines: bytes })
    const bad = new Set(lake.rejected.map(({ line }) => line))
    const good = lines.filter((_l, at) => !bad.has(at + 1)).map((l) => l.toString('utf8').replace(/^\ufeff/, ''))
    const current = new Map(good.map((line) => [idOf(line, content), line]))
    expect((await lake.quarantine()).length).toBe(lake.rejected.length)
    expect(canonicalAll(await lake.givenBack(), content)).toEqual(canonicalAll(current.values(), content))
  }), { numRuns: 40, endOnFailure: true })
}, 200000)
}
