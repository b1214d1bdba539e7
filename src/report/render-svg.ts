/** The one place that knows ECharts: a chart's options to SVG, without a browser. The build puts ECharts into this file. */

import { BarChart, HeatmapChart, LineChart, ScatterChart } from 'echarts/charts'
import { AriaComponent, GridComponent, LegendComponent, VisualMapComponent } from 'echarts/components'
import { init, use } from 'echarts/core'
import { SVGRenderer } from 'echarts/renderers'

use([
  ...[BarChart, HeatmapChart, LineChart, ScatterChart, AriaComponent],
  ...[GridComponent, LegendComponent, VisualMapComponent, SVGRenderer],
])

/**
 * @param option as ECharts takes it
 * @param height in pixels, as `width`
 * @returns an `<svg>` element, texts escaped
 */
export const renderSvg = (
  option: Readonly<Record<string, unknown>>,
  width: number,
  height: number,
): string => {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height })
  try {
    chart.setOption(option)
    return chart.renderToSVGString({ useViewBox: true })
  } finally {
    // Without it the process does not end.
    chart.dispose()
  }
}
