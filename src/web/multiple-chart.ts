/** One of a company's small multiples, as options of ECharts. Lines differ in dash and mark, not in colour alone. Pure. */

import type { Chart } from '../report/charts.ts'
import { INKS, SERIES } from '../report/colours.ts'
import { type Figure, KINDS, scaleFor, shownNumber } from './figures.ts'

const [INK] = INKS.ink
const [SOFT] = INKS.soft
const [LINE] = INKS.line

const STYLES = [
  { color: SERIES[0], symbol: 'circle', dash: 'solid' },
  { color: SERIES[1], symbol: 'triangle', dash: 'dashed' },
] as const

/** The unit of the values: `million EUR`. */
export const unitOf = (figures: readonly Figure[]): string => {
  const [, word] = scaleFor(figures.map(({ value }) => value))
  return [word, [...new Set(figures.flatMap(({ currency }) => currency ?? []))].join(', ')]
    .filter((one) => one !== '')
    .join(' ')
}

/** Earlier values in the currency of the figure; others could not be compared in a drawing. */
const earlierPoints = (figures: readonly Figure[], years: readonly number[], factor: number) =>
  figures.flatMap(({ year, currency, earlier }) =>
    earlier
      .filter((one) => one.currency === currency && years.includes(year))
      .map(({ value }) => [String(year), value / factor]),
  )

/** @param figures of one line item */
export const multipleChart = (figures: readonly Figure[], years: readonly number[]): Chart => {
  const [factor] = scaleFor(figures.map(({ value }) => value))
  const kinds = KINDS.filter((kind) => figures.some(({ consolidation }) => consolidation === kind))
  const lines = kinds.map((kind) => {
    const { color, symbol, dash } = STYLES[KINDS.indexOf(kind)] ?? STYLES[0]
    const values = new Map(
      figures.filter(({ consolidation }) => consolidation === kind).map(({ year, value }) => [year, value]),
    )
    return {
      ...{
        type: 'line',
        name: kind,
        silent: true,
        connectNulls: false,
        symbol,
        symbolSize: 7,
        showAllSymbol: true,
      },
      lineStyle: { color, width: 2, type: dash },
      itemStyle: { color },
      data: years.map((year) => {
        const value = values.get(year)
        return value === undefined ? null : value / factor
      }),
    }
  })
  const earlier = earlierPoints(figures, years, factor)
  const scatter = {
    ...{
      type: 'scatter',
      name: 'earlier value',
      silent: true,
      symbol: 'diamond',
      symbolSize: 11,
      data: earlier,
    },
    itemStyle: { color: 'transparent', borderColor: SERIES[5], borderWidth: 2 },
  }
  const latest = figures.reduce<Figure | undefined>(
    (a, b) => (a === undefined || b.year >= a.year ? b : a),
    undefined,
  )
  return {
    ...{ width: 420, height: 220 },
    summary: `${years[0]} to ${years.at(-1)}, ${kinds.join(' and ').toLowerCase()}, ${earlier.length} earlier values; ${latest?.year}: ${shownNumber(latest?.value ?? 0)}`,
    option: {
      animation: false,
      textStyle: { color: INK, fontFamily: 'sans-serif', fontSize: 12 },
      grid: { left: 64, right: 16, top: 36, bottom: 28, outerBoundsMode: 'none' },
      legend: { top: 4, left: 0, itemGap: 12, textStyle: { color: INK, fontSize: 12 }, selectedMode: false },
      xAxis: {
        ...{ type: 'category', data: years.map(String), axisLine: { lineStyle: { color: LINE } } },
        axisTick: { show: false },
        axisLabel: { color: SOFT, fontSize: 12, hideOverlap: true },
      },
      yAxis: {
        ...{ type: 'value', splitNumber: 4, minInterval: 1, splitLine: { lineStyle: { color: LINE } } },
        axisLabel: { color: SOFT, fontSize: 12 },
      },
      series: earlier.length > 0 ? [...lines, scatter] : lines,
    },
  }
}
