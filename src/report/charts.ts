/** A chart as options of ECharts, and labels that fit into one. Pure. */

import { cellText } from './rows.ts'

/** A chart as options of ECharts, with its size. */
export interface Chart {
  /** As ECharts takes it. */
  readonly option: Readonly<Record<string, unknown>>
  /** In pixels. @default CHART_WIDTH */
  readonly width?: number
  readonly height: number
  /** Text alternative of the chart. */
  readonly summary: string
}

export const CHART_WIDTH = 860
const LONGEST_LABEL = 28

/** A label that fits, its begin and its end; without characters that turn the direction of what stands beside it. */
export const labelOf = (value: unknown): string => {
  const text = cellText(value)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd')
  const characters = [...text]
  return characters.length > LONGEST_LABEL
    ? `${characters.slice(0, LONGEST_LABEL / 2 - 1).join('')}…${characters.slice(-LONGEST_LABEL / 2).join('')}`
    : text || '–'
}
