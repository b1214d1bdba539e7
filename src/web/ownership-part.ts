/** The ownership graph of a company, and the same as a table. */

import { labelOf } from '../report/charts.ts'
import { type AnswerRow, answerRows, type ExplorerAnswer } from './api.ts'
import { h, svg, untrusted, wide } from './dom.ts'
import { csvButton } from './download.ts'
import { shownStake } from './figures.ts'
import {
  type Graph,
  type GraphLine,
  type GraphNode,
  layOut,
  MOST_NODES,
  NODE_HEIGHT,
  NODE_WIDTH,
} from './ownership-layout.ts'

const LONGEST_NAME = 24
/** A whole name of thousands of characters stands on the company's own page. */
const LONGEST_CELL = 120

const shortName = (name: string): string => {
  const label = labelOf(name)
  return label.length > LONGEST_NAME ? `${label.slice(0, LONGEST_NAME - 1)}…` : label
}

/** Kinds differ in their frames: companies have corners, persons none, the protected a dashed one. */
const nodePicture = ({ kind, name, x, y, id, number }: GraphNode): SVGElement => {
  const frame = svg('rect', {
    class: `node ${kind}${number === 0 ? ' self' : ''}`,
    ...{ x, y, width: NODE_WIDTH, height: NODE_HEIGHT, rx: kind === 'company' ? 2 : NODE_HEIGHT / 2 },
  })
  const text = svg('text', { class: kind, x: x + 10, y: y + NODE_HEIGHT / 2 + 4 }, shortName(name))
  const title = svg('title', {}, kind === 'protected' ? 'protected identity' : `${labelOf(name)} (${kind})`)
  return id === null || number === 0
    ? svg('g', {}, title, frame, text)
    : svg('a', { href: `#/company/${id}` }, title, frame, text)
}

const linePicture = ({ from, to, width, isRange, isCycle }: GraphLine): SVGElement => {
  const [x1, y1] = [from.x + NODE_WIDTH, from.y + NODE_HEIGHT / 2]
  const [x2, y2] = [to.x, to.y + NODE_HEIGHT / 2]
  // A line back to the left is bent outwards, so that it does not run through the nodes between.
  const bow = x2 > x1 ? (x2 - x1) / 2 : 90
  const drop = x2 > x1 ? 0 : 46
  return svg('path', {
    class: `line${isCycle ? ' cycle' : ''}`,
    d: `M${x1} ${y1} C${x1 + bow} ${y1 + drop} ${x2 - bow} ${y2 + drop} ${x2} ${y2}`,
    'stroke-width': width,
    'stroke-dasharray': isRange ? '7 5' : undefined,
  })
}

const lineLabel = ({ from, to, isUp, label }: GraphLine): SVGElement => {
  const at = isUp ? { x: from.x + NODE_WIDTH + 6, y: from.y } : { x: to.x - 8, y: to.y }
  return svg(
    'text',
    { class: 'stake', 'text-anchor': isUp ? 'start' : 'end', x: at.x, y: at.y + NODE_HEIGHT / 2 - 5 },
    label,
  )
}

const picture = ({ nodes, lines, width, height }: Graph): HTMLElement => {
  const summary = `Ownership graph: ${nodes.length} companies and persons, ${lines.length} holdings; owners stand at the left`
  return wide(
    'Ownership graph',
    svg(
      'svg',
      {
        class: 'graph',
        viewBox: `0 0 ${width} ${height}`,
        width,
        height,
        role: 'group',
        'aria-label': summary,
      },
      ...lines.map(linePicture),
      ...lines.map(lineLabel),
      ...nodes.map(nodePicture),
    ),
  )
}

const entityCell = (row: AnswerRow, side: 'owner' | 'owned'): HTMLElement => {
  const [kind, name, id] = [row[`${side}_kind`], row[`${side}_name`], row[`${side}_id`]]
  if (kind === 'protected') return h('td', {}, h('i', {}, 'protected'))
  const shown = untrusted(name, LONGEST_CELL)
  return h('td', { class: 'l' }, id === null ? shown : h('a', { href: `#/company/${String(id)}` }, shown))
}

const table = (rows: readonly AnswerRow[]): HTMLElement => {
  const lines = rows.map((row) =>
    h(
      'tr',
      {},
      h('td', {}, `${row.direction === 'up' ? 'owner' : 'holding'}, level ${row.level}`),
      entityCell(row, 'owner'),
      entityCell(row, 'owned'),
      h(
        'td',
        { class: 'n' },
        shownStake(Number(row.min_stake), Number(row.max_stake), row.is_stated === true),
      ),
      h('td', {}, row.is_cycle === true ? '↺ circle' : ''),
    ),
  )
  const heads = ['where', 'owner', 'company', 'stake', 'circle'].map((text) =>
    h('th', { scope: 'col' }, text),
  )
  return wide(
    'Table: holdings',
    h(
      'table',
      {},
      h('caption', {}, 'Holdings'),
      h('thead', {}, h('tr', {}, ...heads)),
      h('tbody', {}, ...lines),
    ),
  )
}

export const showOwnership = (answer: ExplorerAnswer): readonly Node[] => {
  const rows = answerRows(answer)
  if (rows.length === 0)
    return [h('p', { class: 'soft' }, 'No direct owners or holdings are known that this token may see.')]
  const graph = layOut(rows)
  const notes = [
    'Lines are as thick as the stake; a range or what is not stated is dashed, ↺ marks a circle. Round frames are persons, dashed ones protected.',
    ...(graph.left > 0
      ? [`The picture has the nearest ${MOST_NODES}; ${graph.left} more stand in the table alone.`]
      : []),
    ...(answer.isCut ? ['There are more levels or holdings than are shown here.'] : []),
  ]
  return [
    ...notes.map((text) => h('p', { class: 'soft' }, text)),
    picture(graph),
    h(
      'details',
      { open: graph.left > 0 },
      h('summary', {}, `Holdings as a table (${rows.length})`),
      table(rows),
    ),
    csvButton(answer, 'Holdings'),
  ]
}
