import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type BisectedRecords, bisectRejected } from '../../src/load/bisect-rejected.ts'
import { type CheckedPart, checkBlock, lineOf } from '../../src/load/check-block.ts'
import { RecordChecker } from '../../src/load/check-record.ts'
import { newSeenSets } from '../../src/load/seen-sets.ts'
import { blockOf } from './loaded-lake.ts'

const recordOf = (id: number): string => `{"BasicDetails":{"InternalId":${id}}}`

const partOf = (text: string): CheckedPart => {
  const bytes = Buffer.from(text)
  const [part] = checkBlock(blockOf(bytes), new RecordChecker('companies', newSeenSets())).parts
  if (part === undefined) throw new TypeError('No records to sort out')
  return part
}

/** Sorts out the records whose ids an engine refuses, and counts how often it was asked. */
const sortedOut = async (
  text: string,
  bad: ReadonlySet<number>,
): Promise<BisectedRecords & { asked: number; ids: (members: readonly number[]) => number[] }> => {
  const part = partOf(text)
  const ids = (members: readonly number[]): number[] => members.map((member) => Number(part.rows.id[member]))
  let asked = 0
  const sorted = await bisectRejected(part, async ({ members }) => {
    asked++
    return !ids(members).some((id) => bad.has(id))
  })
  return { ...sorted, asked, ids }
}

describe('bisectRejected', () => {
  test('finds the lines that are refused and keeps all others in order', async () => {
    const text = Array.from({ length: 9 }, (_, id) => `${recordOf(id)}\n`).join('')
    const { accepted, refused, ids } = await sortedOut(text, new Set([0, 4, 8]))
    expect(ids(refused)).toEqual([0, 4, 8])
    expect(ids(accepted.members)).toEqual([1, 2, 3, 5, 6, 7])
  })

  test('gives refused lines whole, with their line ends', async () => {
    const text = `${recordOf(1)}\r\n\n  ${recordOf(2)}\n${recordOf(3)}\n`
    const { accepted, refused } = await sortedOut(text, new Set([1, 2]))
    expect(refused.map((record) => text.slice(...lineOf(accepted, record)))).toEqual([
      `${recordOf(1)}\r\n`,
      `${recordOf(2)}\n`,
    ])
  })

  test('asks about twice the logarithm of the lines for one bad line', async () => {
    const text = Array.from({ length: 1024 }, (_, id) => `${recordOf(id)}\n`).join('')
    const { asked, refused } = await sortedOut(text, new Set([700]))
    expect(refused).toHaveLength(1)
    expect(asked).toBe(1 + 2 * 10)
  })

  test('asks once where all lines are accepted', async () => {
    expect(await sortedOut(`${recordOf(1)}\n${recordOf(2)}\n`, new Set())).toMatchObject({
      asked: 1,
      refused: [],
    })
  })

  test('lets the errors of the engine through', async () => {
    await expect(
      bisectRejected(partOf(`${recordOf(1)}\n`), () => Promise.reject(new Error('out of memory'))),
    ).rejects.toThrow('out of memory')
  })

  test('parts any lines into those refused and those not', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 40 }), async (bad) => {
        const text = bad.map((_bad, id) => `${recordOf(id)}\n${id % 3 === 0 ? ' \n' : ''}`).join('')
        const badIds = bad.flatMap((isBad, id) => (isBad ? [id] : []))
        const { accepted, refused, ids } = await sortedOut(text, new Set(badIds))
        expect(ids(refused)).toEqual(badIds)
        expect(ids(accepted.members)).toEqual(bad.flatMap((isBad, id) => (isBad ? [] : [id])))
      }),
    )
  })
})
