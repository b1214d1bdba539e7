/** Colours of the report. Series of charts differ in pattern, too, and stand out from both backgrounds. */

/** Colours of the page and of the frames of charts, light and dark. */
export const INKS = {
  ink: ['#1b1f24', '#e6e8eb'],
  soft: ['#565d66', '#a9b1bb'],
  line: ['#c9ced5', '#4a525c'],
  paper: ['#ffffff', '#14171b'],
  panel: ['#f4f6f8', '#1e2329'],
  link: ['#0b57a4', '#8ec1ff'],
  good: ['#17692f', '#6fd38b'],
  fair: ['#855000', '#f0b94d'],
  bad: ['#a8201a', '#ff9c94'],
} as const

/** Series of a chart, in their order. */
export const SERIES = ['#2f7ed8', '#d1701f', '#7f63c9', '#7b8794', '#1f9a6d', '#c2477f', '#a08414', '#3f9bb0']
