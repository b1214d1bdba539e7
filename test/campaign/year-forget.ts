/** Companies and a person of a year's lake are erased: none of their bytes may be left below it. */

import { forget } from '../../src/jobs/forget.ts'
import { marksBelow } from '../forget/planted-lake.ts'
import type { ExpectedLake } from './year-expected.ts'
import { type Company, hasRelations, nationalIdOf, personId, USUAL_STATUS } from './year-world.ts'

/** Of three digits, so that no name begins with another; these never came broken, and brought no unknown name. */
const isPlain = ({ id, extra, item, status }: Company): boolean =>
  id >= 100 && id < 300 && extra === undefined && item === undefined && status === USUAL_STATUS

/** One with relations of its own, one that is a child of another, and who leads a third. @returns what was wrong */
export const forgetSome = async (lake: string, expected: ExpectedLake): Promise<readonly string[]> => {
  const shown = expected.shown.filter(isPlain)
  const [own, third] = shown.filter(hasRelations)
  const child = shown.find(
    ({ id }) => id % 10 === 1 && id !== (own?.id ?? 0) + 1 && id !== (third?.id ?? 0) + 1,
  )
  if (!own || !third || !child) throw new RangeError('Cannot forget: the world has too few companies')
  const marks = [
    `Company ${own.id}`,
    `Company ${child.id}`,
    nationalIdOf(own.chair),
    nationalIdOf(third.chair),
  ]
  const before = await marksBelow(lake, marks)
  const [companies, persons] = [[own.id, child.id], [personId(third.chair)]]
  await forget({ lake, companies, persons })
  expected.forget(companies, persons)
  const after = await marksBelow(lake, marks)
  return [
    ...marks.filter((mark) => !before.has(mark)).map((mark) => `"${mark}" was not in the lake`),
    ...[...after].map((mark) => `"${mark}" is in the lake after the forget`),
  ]
}
