/** Which snapshots an age means. */

import { listManifest, newestNumber, readKnownRoot } from './snapshots.ts'

/**
 * The snapshot that was the newest at a moment; where all are later, the oldest. With it and those after it the lake can be read
 * as of every moment since.
 *
 * @throws {ToolkitError} as `readKnownRoot`
 */
export const snapshotAsOf = async (lake: string, moment: Date): Promise<number> => {
  const { oldest } = await listManifest(lake)
  let number = await newestNumber(lake)
  while (number > oldest && Date.parse((await readKnownRoot(lake, number)).time) > moment.getTime())
    number -= 1
  return number
}
