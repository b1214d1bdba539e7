/** The kinds of charts of the report, as options of ECharts made from rows. Pure. */

import { HEAT, INKS, SERIES } from './colours.ts'
import { cellNumber, cellText, everyNight, type ReportRow } from './rows.ts'

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
const PLOT_HEIGHT = 228
const LEGEND_HEIGHT = 24
const MARGIN = 24
/** Few bars stand together at the left, where a narrow screen shows them. */
const WIDEST_BAR = 110
/** A bar that is so many times as high as the next one is cut. */
const CUT_ABOVE = 5

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

const distinct = (rows: readonly ReportRow[], column: string): readonly string[] => [
  ...new Set(rows.map((row) => cellText(row[column]))),
]

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

/** Lines that a legend takes, by about the width of its names. */
const legendLines = (names: readonly string[]): number =>
  Math.ceil(names.reduce((width, name) => width + 60 + 7 * name.length, 0) / (CHART_WIDTH - MARGIN))

/** Room below bars for labels that are turned; others need little. */
const turnedRoom = (labels: readonly string[]): number =>
  24 + 4 * Math.max(...labels.map((label) => label.length))

/**
 * Where one bar would leave no room for the others, as a first load does, the height at which it is cut.
 *
 * @returns that height and the total of the bar, at its place
 */
const cutOf = (
  totals: readonly number[],
): { readonly at: number; readonly total: number; readonly most: number } | undefined => {
  const [total = 0, second = 0] = totals.toSorted((a, b) => b - a)
  return second > 0 && total > CUT_ABOVE * second
    ? { at: totals.indexOf(total), total, most: second }
    : undefined
}

/** Bars of several parts upon each other. @param parts columns with their names in the legend */
export const stackedBars = (
  rows: readonly ReportRow[],
  x: string,
  parts: Readonly<Record<string, string>>,
): Chart => {
  const names = Object.values(parts)
  const totals = rows.map((row) =>
    Object.keys(parts).reduce((sum, column) => sum + cellNumber(row[column]), 0),
  )
  const cut = cutOf(totals)
  const labels = rows.map((row, at) => `${labelOf(row[x])}${cut?.at === at ? ` ↑ ${cut.total}` : ''}`)
  const isTurned = labels.some(
    (label) => 7 * label.length > Math.min(WIDEST_BAR, (CHART_WIDTH - 96) / labels.length),
  )
  const bottom = isTurned ? turnedRoom(labels) : 32
  const [left, legend] = [72, LEGEND_HEIGHT * legendLines(names)]
  const free = CHART_WIDTH - left - WIDEST_BAR * labels.length
  return {
    height: PLOT_HEIGHT - LEGEND_HEIGHT + legend + bottom,
    summary: `${rows.length} bars by ${x}, ${labels[0] ?? ''} to ${labels.at(-1) ?? ''}: ${names.join(', ')}${cut ? `; the bar ${labels[cut.at]} is cut` : ''}`,
    option: {
      ...base(left, bottom, 16 + legend, Math.max(MARGIN, free)),
      legend: { top: 4, left: 0, itemGap: 24, textStyle: { color: INK, fontSize: 12 }, selectedMode: false },
      xAxis: categories(labels, { rotate: isTurned ? 35 : 0 }),
      yAxis: { ...values, ...(cut && { max: cut.most }) },
      series: Object.entries(parts).map(([column, name], at) => ({
        ...bar(
          name,
          at,
          rows.map((row) => cellNumber(row[column])),
        ),
        stack: 'all',
      })),
    },
  }
}

/** A bar a night, from rows that are one part of one night each. */
export const partsByNight = (rows: readonly ReportRow[], part: string, value: string): Chart => {
  const names = distinct(rows, part)
  const columns = Object.fromEntries(names.map((name, at) => [String(at), labelOf(name)]))
  const bars = Map.groupBy(rows, ({ night }) => cellText(night))
  return stackedBars(
    everyNight(
      [...bars].map(([night, of]) => ({
        ...Object.fromEntries(names.map((name, at) => [at, sumOf(of, part, name, value)])),
        night,
      })),
    ),
    'night',
    columns,
  )
}

const sumOf = (rows: readonly ReportRow[], part: string, name: string, value: string): number =>
  rows.reduce((sum, row) => sum + (cellText(row[part]) === name ? cellNumber(row[value]) : 0), 0)

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

const stepOf = (value: number, most: number): number =>
  most <= 0 ? 0 : Math.min(HEAT.length - 1, Math.max(0, Math.ceil((value / most) * HEAT.length) - 1))

/** A field for each pair, darker where it is more, with its number in it. @param most the darkest; @default the largest */
export const heatMap = (
  rows: readonly ReportRow[],
  { x, y, value, most, show = String }: HeatColumns,
): Chart => {
  const across = [...distinct(rows, x)].sort()
  const down = distinct(rows, y)
  const largest = most ?? Math.max(0, ...rows.map((row) => cellNumber(row[value])))
  const data = rows.map((row) => {
    const number = cellNumber(row[value])
    const [color, text] = HEAT[stepOf(number, largest)] ?? HEAT[0]
    return {
      value: [across.indexOf(cellText(row[x])), down.indexOf(cellText(row[y])), number],
      itemStyle: { color, borderColor: LINE, borderWidth: 1 },
      label: { show: true, color: text, fontSize: 12, formatter: show(number) },
    }
  })
  const labels = down.map(labelOf)
  const left = 24 + 7 * Math.max(4, ...labels.map((label) => label.length))
  return {
    height: 56 + ROW_HEIGHT * down.length,
    summary: `${down.length} rows by ${y}, ${across.length} columns by ${x}: ${value} from ${show(Math.min(...rows.map((row) => cellNumber(row[value]))))} to ${show(Math.max(...rows.map((row) => cellNumber(row[value]))))}`,
    option: {
      ...base(left, 40, 8),
      // Each field has its number: patterns would only hide it.
      aria: { enabled: false },
      xAxis: categories(across.map(labelOf)),
      yAxis: { ...categories(labels), inverse: true },
      visualMap: {
        show: false,
        min: 0,
        max: Math.max(1, largest),
        inRange: { color: HEAT.map(([color]) => color) },
      },
      series: [{ type: 'heatmap', silent: true, emphasis: { disabled: true }, data }],
    },
  }
}

export interface HeatColumns {
  readonly x: string
  readonly y: string
  readonly value: string
  readonly most?: number
  /** A number as it stands in its field. */
  readonly show?: (value: number) => string
}
