/** The mark of firmlake: bars above the water, and what the water shows of them. */

import { svg } from './dom.ts'

const BARS = [
  ['f1', 3, 7, 7],
  ['f1', 10, 2, 12],
  ['f1', 17, 5, 9],
  ['f1l', 3, 16, 3],
  ['f1l', 10, 16, 6],
  ['f1l', 17, 16, 4],
] as const

export const brandMark = (): SVGElement =>
  svg(
    'svg',
    { viewBox: '0 0 24 24', 'aria-hidden': 'true' },
    ...BARS.map(([tone, x, y, height]) => svg('rect', { class: tone, x, y, width: 4, height, rx: 1 })),
  )
