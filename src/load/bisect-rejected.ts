/** Finds the lines that DuckDB refuses though they passed every check, by halving. */

import type { CheckedPart, Stretch } from './check-block.ts'

export interface SortedOut {
  readonly accepted: CheckedPart
  /** Lines that are refused alone, with their line ends. */
  readonly refused: readonly Stretch[]
}

/** @param accepts whether DuckDB takes these lines; asked about twice log2(lines) times for one bad line */
export const sortOutRefused = async (
  part: CheckedPart,
  bytes: Buffer,
  accepts: (lines: CheckedPart) => Promise<boolean>,
): Promise<SortedOut> => {
  const withLines = (lines: readonly Stretch[]): CheckedPart => ({
    ...part,
    stretches: [...lines],
    records: lines.length,
    figures: part.figures.filter(([from]) => lines.some((line) => line[0] <= from && from < line[1])),
  })
  const refused: Stretch[] = []
  const accepted: Stretch[] = []
  const halve = async (lines: readonly Stretch[]): Promise<void> => {
    if (lines.length === 0) return
    if (await accepts(withLines(lines))) accepted.push(...lines)
    else if (lines.length === 1) refused.push(...lines)
    else {
      const half = lines.length >> 1
      await halve(lines.slice(0, half))
      await halve(lines.slice(half))
    }
  }
  await halve(part.stretches.flatMap((stretch) => linesOf(bytes, stretch)))
  return { accepted: withLines(accepted), refused }
}

const linesOf = (bytes: Buffer, [from, to]: Stretch): Stretch[] => {
  const lines: Stretch[] = []
  for (let at = from; at < to; ) {
    const newline = bytes.indexOf(0x0a, at)
    const end = newline < 0 || newline >= to ? to : newline + 1
    lines.push([at, end])
    at = end
  }
  return lines
}
