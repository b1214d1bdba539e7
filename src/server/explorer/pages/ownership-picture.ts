/** A small group as a picture: owners at the left, what they own at the right. */

import { type Html, html } from '../../../report/html.ts'
import { type Graph, type GraphLine, type GraphNode, NODE_HEIGHT, NODE_WIDTH } from './ownership-layout.ts'

/** A whole name of thousands of characters stands on the company's own page. */
const LONGEST_LABEL = 28
const LONGEST_NAME = 24

/** A label that fits, its begin and its end; without characters that turn the direction of what stands beside it. */
const labelOf = (name: string): string => {
  const characters = [...name.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd')]
  return characters.length > LONGEST_LABEL
    ? `${characters.slice(0, LONGEST_LABEL / 2 - 1).join('')}…${characters.slice(-LONGEST_LABEL / 2).join('')}`
    : characters.join('') || '–'
}

const shortName = (name: string): string => {
  const label = labelOf(name)
  return label.length > LONGEST_NAME ? `${label.slice(0, LONGEST_NAME - 1)}…` : label
}

/** Kinds differ in their frames: companies have corners, persons none, the protected a dashed one. */
const nodePicture = ({ kind, name, x, y, id, number }: GraphNode): Html => {
  const frame = `box${number === 0 ? ' me' : ''}${kind === 'protected' ? ' dash' : ''}`
  const title = kind === 'protected' ? 'protected person' : `${labelOf(name)} (${kind})`
  const inner = html`<title>${title}</title><rect class="${frame}" x="${x}" y="${y}" width="${NODE_WIDTH}" height="${NODE_HEIGHT}" rx="${kind === 'company' ? 3 : NODE_HEIGHT / 2}"/><text class="${kind}" x="${x + 12}" y="${y + NODE_HEIGHT / 2 + 4}">${shortName(name)}</text>`
  return id === null || number === 0
    ? html`<g>${inner}</g>\n`
    : html`<a href="#/company/${id}">${inner}</a>\n`
}

const linePicture = ({ from, to, isRange }: GraphLine, lowest: number): Html => {
  const [x1, y1] = [from.x + NODE_WIDTH, from.y + NODE_HEIGHT / 2]
  const [x2, y2] = [to.x, to.y + NODE_HEIGHT / 2]
  // A line back to the left runs below all nodes: a curve reaches three quarters of the way to its guides.
  const bow = x2 > x1 ? (x2 - x1) / 2 : 90
  const drop = x2 > x1 ? 0 : ((lowest - Math.max(y1, y2)) * 4) / 3
  return html`<path class="edge${isRange ? ' dash' : ''}" d="M${x1} ${y1} C${x1 + bow} ${y1 + drop} ${x2 - bow} ${y2 + drop} ${x2} ${y2}"/>\n`
}

const lineLabel = ({ from, to, isUp, label }: GraphLine): Html => {
  const at = isUp ? { x: from.x + NODE_WIDTH + 8, y: from.y } : { x: to.x - 8, y: to.y }
  return html`<text class="stake" text-anchor="${isUp ? 'start' : 'end'}" x="${at.x}" y="${at.y + NODE_HEIGHT / 2 - 6}">${label}</text>\n`
}

export const picture = ({ nodes, lines, width, height }: Graph): Html => {
  const summary = `Picture of the group: ${nodes.length} companies and persons, ${lines.length} holdings; owners stand at the left`
  return html`<div class="card"><h3>The group in a picture</h3><p>Owners at the left, what they own at the right; dashed lines are ranges or not stated</p>
<div class="wide" tabindex="0" role="group" aria-label="Picture of the group, scrolls sideways"><svg class="graph" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="group" aria-label="${summary}">
${lines.map((line) => linePicture(line, height - 6))}${lines.map(lineLabel)}${nodes.map(nodePicture)}</svg></div></div>
`
}
