/** Quarantined lines for people and programs. Their text may hold personal data: only on request. */

import type { QuarantinedLine } from '../../jobs/replay/quarantine.ts'
import { formatCount } from './format.ts'
import { textTable } from './text-table.ts'

/** What programs get of a line. */
export const lineObject = (line: QuarantinedLine, withRaw: boolean): object => {
  const { raw, raw_base64, ...visible } = line
  return withRaw ? line : visible
}

/** The text of a line; one that is no UTF-8 in Base64. */
const rawText = ({ raw, raw_base64 }: QuarantinedLine): string => raw ?? `base64:${raw_base64 ?? ''}`

export const quarantineTable = (lines: readonly QuarantinedLine[], withRaw: boolean): string[] =>
  textTable(
    [
      { title: 'source' },
      { title: 'line', right: true },
      { title: 'offset', right: true },
      { title: 'bytes', right: true },
      { title: 'code' },
      { title: 'reason' },
      ...(withRaw ? [{ title: 'raw' }] : []),
    ],
    lines.map((one) => [
      one.source,
      String(one.line),
      String(one.byte_offset),
      String(one.size_bytes),
      one.code,
      one.reason,
      ...(withRaw ? [rawText(one)] : []),
    ]),
  )

/** Lines by reason code, the most frequent first: `3 NOT_JSON, 1 TOO_DEEP`. */
export const byCodeText = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([code, count]) => `${formatCount(count)} ${code}`)
    .join(', ')
