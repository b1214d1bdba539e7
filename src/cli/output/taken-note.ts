/** Says what a lake does not hold of what came: whoever reads it must not take it for all there was. */

import { takeText } from '../../lake/take/declaration.ts'
import { lackingTakes, type WithTaken } from '../../manifest/taken.ts'
import { note } from './print.ts'

export const takenLines = (root: WithTaken | null): string[] =>
  lackingTakes(root).map((take) => `Not all that came was taken: ${takeText(take)}`)

/** On standard error. @param snapshot default: the newest */
export const noteTaken = async (lake: string, snapshot?: number): Promise<void> => {
  const { readRoot, rootIfAny } = await import('../../manifest/snapshots.ts')
  const root = await (snapshot === undefined ? rootIfAny(lake) : readRoot(lake, snapshot))
  for (const line of takenLines(root)) note(`note: ${line}`)
}
