/**
 * Puts ECharts into the one file of the build that draws charts, so that the package needs none of its 68 MB; its licence and
 * notice stand beside it.
 */

import { copyFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
await build({
  absWorkingDir: root,
  entryPoints: ['dist/report/render-svg.js'],
  outfile: 'dist/report/render-svg.js',
  allowOverwrite: true,
  bundle: true,
  minify: true,
  platform: 'node',
  format: 'esm',
  legalComments: 'eof',
  logLevel: 'warning',
})
for (const [from, to] of [
  ['echarts/LICENSE', 'echarts-LICENSE'],
  ['echarts/NOTICE', 'echarts-NOTICE'],
  ['echarts/licenses/LICENSE-d3', 'd3-LICENSE'],
  ['zrender/LICENSE', 'zrender-LICENSE'],
])
  copyFileSync(`${root}node_modules/${from}`, `${root}dist/report/${to}`)
