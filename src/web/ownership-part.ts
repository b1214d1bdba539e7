/** Owners and holdings of a company: two trees, a picture of a small group, and all as a table. */

import { cellText } from '../report/rows.ts'
import { shownNumber, shownStake } from '../report/shown.ts'
import { stackedBar } from '../report/svg.ts'
import { type AnswerRow, answerRows, type ExplorerAnswer } from './api.ts'
import { fromHtml, h, svg, untrusted, wide } from './dom.ts'
import { csvButton } from './download.ts'
import {
  type Graph,
  type GraphLine,
  type GraphNode,
  layOut,
  NODE_HEIGHT,
  NODE_WIDTH,
} from './ownership-layout.ts'
import { type Entity, rowsOfTree, type Stake, stakeOf, type TreeRow, treeOf } from './ownership-tree.ts'

/** A whole name of thousands of characters stands on the company's own page. */
const LONGEST_LABEL = 28

/** A label that fits, its begin and its end; without characters that turn the direction of what stands beside it. */
const labelOf = (value: unknown): string => {
  const text = cellText(value)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd')
  const characters = [...text]
  return characters.length > LONGEST_LABEL
    ? `${characters.slice(0, LONGEST_LABEL / 2 - 1).join('')}…${characters.slice(-LONGEST_LABEL / 2).join('')}`
    : text || '–'
}

const LONGEST_CELL = 120
/** Rows of one level that are open; the others are folded. */
const OPEN_ROWS = 30

const pill = (text: string, isDashed = false): HTMLElement =>
  h('span', { class: isDashed ? 'pers prot' : 'pers' }, text)

const nameOf = ({ kind, name, id, country }: Entity): readonly Node[] => {
  if (kind === 'protected') return [h('i', {}, 'protected'), pill('protected person', true)]
  const shown = untrusted(name, LONGEST_CELL)
  if (kind === 'person') return [shown, pill('person')]
  return [
    id === null ? shown : h('a', { href: `#/company/${id}` }, shown),
    ...(country === null ? [] : [h('small', { class: 'soft' }, untrusted(country, 8))]),
  ]
}

/** Dark to the least, light to the most. */
const stakeBar = ({ least, greatest, isStated }: Stake): DocumentFragment =>
  fromHtml(
    stackedBar(
      isStated
        ? [
            { value: least, tone: 'f1' },
            { value: greatest - least, tone: 'f1l' },
          ]
        : [],
      100,
    ),
  )

const rowLine = (entity: Entity, stake: Stake, marks: readonly Node[], below: string): HTMLElement =>
  h(
    'div',
    { class: 'r' },
    h('span', { class: 'nm quiet' }, ...nameOf(entity), ...marks),
    h('span', { class: 'stake-bar' }, stakeBar(stake)),
    h('span', { class: 'num' }, shownStake(stake.least, stake.greatest, stake.isStated)),
    h('span', { class: 'num' }, below),
  )

const treeRow = (row: TreeRow): HTMLElement => {
  const marks = [
    ...(row.isCircle ? [pill('↺ circle')] : []),
    ...(row.isElsewhere ? [pill('also above')] : []),
  ]
  if (row.children.length === 0) return h('li', {}, rowLine(row, row, marks, ''))
  // A link may not stand in a summary, so the summary lies under the row, and the link above it.
  const said = [`${shownNumber(row.below)} below `, untrusted(row.name, LONGEST_CELL)]
  return h(
    'li',
    { class: 'opens' },
    rowLine(row, row, marks, shownNumber(row.below)),
    h('details', {}, h('summary', {}, h('span', { class: 'vh' }, ...said)), branch(row.children)),
  )
}

const branch = (rows: readonly TreeRow[]): HTMLElement => {
  const others = rows.slice(OPEN_ROWS)
  return h(
    'ul',
    {},
    ...rows.slice(0, OPEN_ROWS).map(treeRow),
    others.length === 0
      ? null
      : h(
          'li',
          { class: 'more' },
          h(
            'details',
            {},
            h('summary', {}, `${shownNumber(others.length)} more`),
            h('ul', {}, ...others.map(treeRow)),
          ),
        ),
  )
}

const square = (tone: string): SVGElement =>
  svg(
    'svg',
    { viewBox: '0 0 10 10', 'aria-hidden': 'true' },
    svg('rect', { class: tone, width: 10, height: 10, rx: 2 }),
  )

const keyOf = (rows: readonly (Stake & { readonly isCircle?: boolean })[]): HTMLElement | null => {
  const hasRange = rows.some(({ least, greatest, isStated }) => isStated && least !== greatest)
  const hasCircle = rows.some(({ isCircle }) => isCircle === true)
  if (!hasRange && !hasCircle) return null
  return h(
    'div',
    { class: 'key' },
    ...(hasRange
      ? [
          h('span', {}, square('f1'), 'at least'),
          h('span', {}, square('f1l'), 'up to, where a range is stated'),
        ]
      : []),
    hasCircle ? h('span', {}, '↺ met above already: a circle') : null,
  )
}

const treeCard = (title: string, said: string, tree: readonly TreeRow[], width: string): HTMLElement =>
  h(
    'div',
    { class: `card ${width}`.trim() },
    h('h3', {}, title),
    h('p', {}, said),
    keyOf(rowsOfTree(tree)),
    h('div', { class: 'tree' }, branch(tree)),
  )

const LONGEST_NAME = 24

const shortName = (name: string): string => {
  const label = labelOf(name)
  return label.length > LONGEST_NAME ? `${label.slice(0, LONGEST_NAME - 1)}…` : label
}

/** Kinds differ in their frames: companies have corners, persons none, the protected a dashed one. */
const nodePicture = ({ kind, name, x, y, id, number }: GraphNode): SVGElement => {
  const frame = svg('rect', {
    class: `box${number === 0 ? ' me' : ''}${kind === 'protected' ? ' dash' : ''}`,
    ...{ x, y, width: NODE_WIDTH, height: NODE_HEIGHT, rx: kind === 'company' ? 3 : NODE_HEIGHT / 2 },
  })
  const text = svg('text', { class: kind, x: x + 12, y: y + NODE_HEIGHT / 2 + 4 }, shortName(name))
  const title = svg('title', {}, kind === 'protected' ? 'protected person' : `${labelOf(name)} (${kind})`)
  return id === null || number === 0
    ? svg('g', {}, title, frame, text)
    : svg('a', { href: `#/company/${id}` }, title, frame, text)
}

const linePicture = ({ from, to, isRange }: GraphLine, lowest: number): SVGElement => {
  const [x1, y1] = [from.x + NODE_WIDTH, from.y + NODE_HEIGHT / 2]
  const [x2, y2] = [to.x, to.y + NODE_HEIGHT / 2]
  // A line back to the left runs below all nodes: a curve reaches three quarters of the way to its guides.
  const bow = x2 > x1 ? (x2 - x1) / 2 : 90
  const drop = x2 > x1 ? 0 : ((lowest - Math.max(y1, y2)) * 4) / 3
  return svg('path', {
    class: isRange ? 'edge dash' : 'edge',
    d: `M${x1} ${y1} C${x1 + bow} ${y1 + drop} ${x2 - bow} ${y2 + drop} ${x2} ${y2}`,
  })
}

const lineLabel = ({ from, to, isUp, label }: GraphLine): SVGElement => {
  const at = isUp ? { x: from.x + NODE_WIDTH + 8, y: from.y } : { x: to.x - 8, y: to.y }
  return svg(
    'text',
    { class: 'stake', 'text-anchor': isUp ? 'start' : 'end', x: at.x, y: at.y + NODE_HEIGHT / 2 - 6 },
    label,
  )
}

const picture = ({ nodes, lines, width, height }: Graph): HTMLElement => {
  const summary = `Picture of the group: ${nodes.length} companies and persons, ${lines.length} holdings; owners stand at the left`
  return h(
    'div',
    { class: 'card' },
    h('h3', {}, 'The group in a picture'),
    h('p', {}, 'Owners at the left, what they own at the right; dashed lines are ranges or not stated'),
    wide(
      'Picture of the group, scrolls sideways',
      svg(
        'svg',
        {
          class: 'graph',
          viewBox: `0 0 ${width} ${height}`,
          ...{ width, height, role: 'group', 'aria-label': summary },
        },
        ...lines.map((line) => linePicture(line, height - 6)),
        ...lines.map(lineLabel),
        ...nodes.map(nodePicture),
      ),
    ),
  )
}

const entityCell = (row: AnswerRow, side: 'owner' | 'owned'): HTMLElement => {
  const [kind, name, id] = [row[`${side}_kind`], row[`${side}_name`], row[`${side}_id`]]
  if (kind === 'protected') return h('td', {}, h('i', {}, 'protected'))
  const shown = untrusted(name, LONGEST_CELL)
  return h('td', {}, id === null ? shown : h('a', { href: `#/company/${String(id)}` }, shown))
}

const table = (rows: readonly AnswerRow[]): HTMLElement => {
  const lines = rows.map((row) => {
    const { least, greatest, isStated } = stakeOf(row)
    return h(
      'tr',
      {},
      h('td', {}, `${row.direction === 'up' ? 'owner' : 'holding'}, level ${row.level}`),
      entityCell(row, 'owner'),
      entityCell(row, 'owned'),
      h('td', { class: 'n' }, shownStake(least, greatest, isStated)),
      h('td', {}, row.is_cycle === true ? '↺ circle' : ''),
    )
  })
  const heads = ['where', 'owner', 'company', 'stake', 'circle'].map((text) =>
    h('th', { scope: 'col', class: text === 'stake' ? 'n' : undefined }, text),
  )
  return wide(
    'Table: holdings',
    h(
      'table',
      {},
      h('caption', { class: 'vh' }, 'Owners and holdings'),
      h('thead', {}, h('tr', {}, ...heads)),
      h('tbody', {}, ...lines),
    ),
  )
}

/** A holding that is this large counts as mostly owned. */
const MOSTLY = 75

const counted = (count: number, one: string, more = `${one}s`): string =>
  `${shownNumber(count)} ${count === 1 ? one : more}`

const leadOf = (owners: readonly TreeRow[], holdings: readonly TreeRow[], cycles: number): string => {
  const held = new Map(
    rowsOfTree(holdings)
      .filter(({ isCircle }) => !isCircle)
      .map((row) => [row.number, row]),
  )
  const mostly = [...held.values()].filter(({ least, isStated }) => isStated && least >= MOSTLY).length
  const levels = Math.max(0, ...holdings.map((row) => row.levels))
  return [
    owners.length === 0 ? 'No owners are known' : counted(owners.length, 'direct owner'),
    held.size === 0
      ? 'no holdings are known'
      : `${counted(held.size, 'holding')} on ${counted(levels, 'level')}, ${shownNumber(holdings.length)} of them direct, ${shownNumber(mostly)} held by ${MOSTLY} % or more`,
    ...(cycles > 0 ? [`↺ ${counted(cycles, 'holding')} in circles`] : []),
  ].join('; ')
}

export const showOwnership = (answer: ExplorerAnswer): readonly Node[] => {
  const rows = answerRows(answer)
  if (rows.length === 0)
    return [h('p', { class: 'lead' }, 'No direct owners or holdings are known that this token may see.')]
  const [owners, holdings] = [treeOf(rows, 'owned'), treeOf(rows, 'owner')]
  const cycles = rows.filter((row) => row.is_cycle === true).length
  const graph = layOut(rows)
  const hasFurther = owners.some(({ children }) => children.length > 0)
  return [
    h('p', { class: 'lead' }, `${leadOf(owners, holdings, cycles)}.`),
    ...(answer.isCut
      ? [h('p', { class: 'lead' }, 'There are more levels or holdings than are shown here.')]
      : []),
    h(
      'div',
      { class: 'grid' },
      owners.length === 0
        ? null
        : treeCard(
            'Owners',
            hasFurther ? 'direct ones; a row with an arrow shows who owns it' : 'direct, as reported',
            owners,
            hasFurther ? 'c6' : '',
          ),
      hasFurther
        ? h(
            'div',
            { class: 'card c6' },
            h('h3', {}, 'Ultimate owners'),
            h('p', {}, 'stakes multiplied along each path, then summed'),
            h('div', { 'data-part': 'ultimate' }),
          )
        : null,
      holdings.length === 0
        ? null
        : treeCard(
            'Holdings',
            'the largest groups first; a row with an arrow opens; a number at the end counts what lies below',
            holdings,
            '',
          ),
      graph === undefined ? null : picture(graph),
      h(
        'div',
        { class: 'card folded' },
        h(
          'details',
          {},
          h(
            'summary',
            {},
            h('b', {}, 'As a table'),
            ` · ${rows.length} ${rows.length === 1 ? 'row' : 'rows'}`,
          ),
          table(rows),
        ),
        csvButton(answer, 'Holdings'),
      ),
    ),
  ]
}

/** Rows of ultimate owners that are open. */
const OPEN_ULTIMATE = 12

export const showUltimateOwners = (answer: ExplorerAnswer): readonly Node[] => {
  const rows = answerRows(answer).map((row) => {
    const stake = stakeOf(row)
    const entity = {
      ...{ number: -1, kind: String(row.owner_kind), name: String(row.owner_name ?? '(no name)') },
      id: row.owner_id === null ? null : String(row.owner_id),
      country: row.owner_country === null ? null : String(row.owner_country),
    }
    return { stake, line: h('li', {}, rowLine(entity, stake, [], '')) }
  })
  if (rows.length === 0) return [h('p', { class: 'soft' }, 'None: every path upwards ends in a circle.')]
  const others = rows.slice(OPEN_ULTIMATE)
  return [
    ...[keyOf(rows.map(({ stake }) => stake))].filter((one) => one !== null),
    h('div', { class: 'tree' }, h('ul', {}, ...rows.slice(0, OPEN_ULTIMATE).map(({ line }) => line))),
    ...(others.length === 0
      ? []
      : [
          h(
            'details',
            {},
            h('summary', {}, `${others.length} more${answer.isCut ? ', and further ones' : ''}`),
            h('div', { class: 'tree' }, h('ul', {}, ...others.map(({ line }) => line))),
          ),
        ]),
  ]
}
