/** The kinds of charts of the report, as options of ECharts made from rows. Pure. */

import { INKS, SERIES } from './colours.ts'
import { cellNumber, cellText, type ReportRow } from './rows.ts'

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
const ROW_HEIGHT = 26
const MARGIN = 24

const [INK] = INKS.ink
const [SOFT] = INKS.soft
const [LINE] = INKS.line

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

/** @param left room for the labels at the side, as the others in pixels */
const base = (left: number, bottom: number, top = 16, right = MARGIN) => ({
  animation: false,
  textStyle: { color: INK, fontFamily: 'sans-serif', fontSize: 12 },
  grid: { left, right, top, bottom, outerBoundsMode: 'none' },
  aria: { enabled: true, label: { enabled: false }, decal: { show: true } },
})

const categories = (labels: readonly string[], more: object = {}) => ({
  type: 'category',
  data: labels,
  axisLine: { lineStyle: { color: LINE } },
  axisTick: { show: false },
  axisLabel: { color: SOFT, fontSize: 12, ...more },
})
const values = {
  type: 'value',
  minInterval: 1,
  axisLabel: { color: SOFT, fontSize: 12 },
  splitLine: { lineStyle: { color: LINE } },
}
const bar = (name: string, at: number, data: readonly number[]) => ({
  ...{ type: 'bar', name, data, silent: true, barMaxWidth: 48, emphasis: { disabled: true } },
  itemStyle: { color: SERIES[at % SERIES.length] },
})

/** Bars that lie below each other, in the order of the rows. @param names columns that name a bar */
export const rankedBars = (rows: readonly ReportRow[], names: readonly string[], value: string): Chart => {
  const labels = rows.map((row) => labelOf(names.map((name) => cellText(row[name])).join(' ')))
  const data = rows.map((row) => cellNumber(row[value]))
  return {
    height: 48 + ROW_HEIGHT * rows.length,
    summary: `${rows.length} bars of ${value}, the first is ${labels[0] ?? ''}: ${data[0] ?? 0}`,
    option: {
      ...base(220, 32),
      yAxis: { ...categories(labels), inverse: true },
      xAxis: { ...values, splitNumber: 4 },
      series: [
        {
          ...bar(value, 0, data),
          label: {
            show: true,
            position: 'insideRight',
            color: '#10161d',
            backgroundColor: '#fefefe',
            padding: 2,
            fontSize: 12,
          },
        },
      ],
    },
  }
}
