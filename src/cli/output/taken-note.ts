/** Says what a lake does not hold of what came: whoever reads it must not take it for all there was. */

import { takeText } from '../../lake/projection/projection.ts'
import { lackingTakes, newestTake, type WithTaken } from '../../manifest/form/projections.ts'
import { note } from './print.ts'

export const takenLines = (root: WithTaken | null): string[] =>
  lackingTakes(root).map((take) => `Not all that came was taken: ${takeText(take)}`)

/** What the views of a lake compute. */
export const computedLines = (root: WithTaken | null): string[] => {
  const columns = Object.entries(newestTake(root).compute ?? {})
  return columns.length === 0
    ? []
    : [`Computed columns: ${columns.map(([name, sql]) => `${name} = ${sql}`).join(', ')}`]
}

/** Published tables are the lake's own files. */
export const noteComputed = async (lake: string): Promise<void> => {
  const { rootIfAny } = await import('../../manifest/snapshots/snapshots.ts')
  const names = Object.keys(newestTake(await rootIfAny(lake)).compute ?? {})
  if (names.length > 0) note(`note: Published tables have no computed columns: ${names.join(', ')}`)
}

/** On standard error. @param snapshot default: the newest */
export const noteTaken = async (lake: string, snapshot?: number): Promise<void> => {
  const { readRoot, rootIfAny } = await import('../../manifest/snapshots/snapshots.ts')
  const root = await (snapshot === undefined ? rootIfAny(lake) : readRoot(lake, snapshot))
  for (const line of takenLines(root)) note(`note: ${line}`)
}
