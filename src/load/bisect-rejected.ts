/** Finds the records that DuckDB refuses though they passed every check, by halving. */

import type { CheckedPart } from './check-block.ts'

export interface BisectedRecords {
  readonly accepted: CheckedPart
  /** Records that are refused alone. */
  readonly refused: readonly number[]
}

/** @param accepts whether DuckDB takes these records; asked about twice log2(records) times for one bad record */
export const bisectRejected = async (
  part: CheckedPart,
  accepts: (some: CheckedPart) => Promise<boolean>,
): Promise<BisectedRecords> => {
  const refused: number[] = []
  const accepted: number[] = []
  const halve = async (members: readonly number[]): Promise<void> => {
    if (members.length === 0) return
    if (await accepts({ ...part, members })) accepted.push(...members)
    else if (members.length === 1) refused.push(...members)
    else {
      const half = members.length >> 1
      await halve(members.slice(0, half))
      await halve(members.slice(half))
    }
  }
  await halve(part.members)
  return { accepted: { ...part, members: accepted }, refused }
}
