/** A chart as a figure of the page: SVG that needs no style of its own, so that the page can forbid all but its own. */

import { CHART_WIDTH, type Chart } from './charts.ts'
import { Html, html } from './html.ts'
import { renderSvg } from './render-svg.ts'

/** In the text of an element `"` is escaped, so each of these stands in a tag. */
const ATTRIBUTES = / (?:style|class|ecmeta_[a-z_]+|xmlns:xlink|baseProfile|version)="[^"]*"/g

/** Without style elements and attributes, with ids that no other chart has. */
const plainSvg = (svg: string, id: string): string =>
  svg
    .replace(/<style[^>]*>[\s\S]*?<\/style>/g, '')
    .replace(ATTRIBUTES, '')
    .replace(/\b(id="|url\(#)zr\d+-/g, `$1${id}-`)
    .replace(/^<svg width="\d+" height="\d+"/, '<svg')

/** @param id of the section, which nothing else on the page has */
export const chartFigure = (
  { option, width = CHART_WIDTH, height, summary }: Chart,
  title: string,
  id: string,
): Html => {
  const svg = plainSvg(renderSvg(option, width, height), `${id}-p`)
  const name = html`${title}: ${summary}`.text
  const labelled = svg.replace('<svg', `<svg role="img" aria-labelledby="${id}-name"`)
  const named = labelled.replace('>', () => `><title id="${id}-name">${name}</title>`)
  return html`<div class="wide" tabindex="0" role="group" aria-label="${`Chart: ${title}`}">${new Html(named)}</div>`
}
