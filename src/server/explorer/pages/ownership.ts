/** Owners and holdings of a company: two trees, a picture of a small group, and all as a table. */

import { type Html, html } from '../../../report/html.ts'
import { cellText, type ReportRow } from '../../../report/rows.ts'
import { countedAs, shownNumber, shownStake, textOrDash } from '../../../report/shown.ts'
import { stackedBar } from '../../../report/svg.ts'
import { objectOf } from '../../../support/json-form.ts'
import { companyId } from '../question.ts'
import { csvButton } from './csv-files.ts'
import { fragment, place } from './fragment.ts'
import { layOut } from './ownership-layout.ts'
import { picture } from './ownership-picture.ts'
import { type Entity, rowsOfTree, type Stake, stakeOf, type TreeRow, treeOf } from './ownership-tree.ts'

const LONGEST_CELL = 120
/** Rows of one level that are open; the others are folded. */
const OPEN_ROWS = 30

const nameOf = ({ kind, name, id, country }: Entity): Html => {
  if (kind === 'protected') return html`<i>protected</i><span class="pers prot">protected person</span>`
  const shown = textOrDash(name, LONGEST_CELL)
  if (kind === 'person') return html`${shown}<span class="pers">person</span>`
  return html`${id === null ? shown : html`<a href="#/company/${id}">${shown}</a>`}${country === null ? html`` : html`<small class="soft">${textOrDash(country, 8)}</small>`}`
}

/** Dark to the least, light to the most. */
const stakeBar = ({ min, max, isStated }: Stake): Html =>
  stackedBar(
    [
      { value: isStated ? min : 0, tone: 'f1' },
      { value: isStated ? max - min : 0, tone: 'f1l' },
    ],
    100,
  )

const rowLine = (entity: Entity, stake: Stake, marks: Html, below: string): Html =>
  html`<div class="r"><span class="nm quiet">${nameOf(entity)}${marks}</span><span class="stake-bar">${stakeBar(stake)}</span><span class="num">${shownStake(stake.min, stake.max, stake.isStated)}</span><span class="num">${below}</span></div>`

const treeRow = (row: TreeRow): Html => {
  const marks = html`${row.isCircle ? html`<span class="pers">↺ circle</span>` : html``}${row.isElsewhere ? html`<span class="pers">also above</span>` : html``}`
  if (row.children.length === 0) return html`<li>${rowLine(row, row, marks, '')}</li>\n`
  // A link may not stand in a summary, so the summary lies under the row, and the link above it.
  return html`<li class="opens">${rowLine(row, row, marks, shownNumber(row.below))}<details><summary><span class="vh">${shownNumber(row.below)} below ${textOrDash(row.name, LONGEST_CELL)}</span></summary>${branch(row.children)}</details></li>\n`
}

const branch = (rows: readonly TreeRow[]): Html => {
  const others = rows.slice(OPEN_ROWS)
  const more =
    others.length === 0
      ? html``
      : html`<li class="more"><details><summary>${shownNumber(others.length)} more</summary><ul>${others.map(treeRow)}</ul></details></li>`
  return html`<ul>\n${rows.slice(0, OPEN_ROWS).map(treeRow)}${more}</ul>`
}

const square = (tone: string): Html =>
  html`<svg viewBox="0 0 10 10" aria-hidden="true"><rect class="${tone}" width="10" height="10" rx="2"/></svg>`

const keyOf = (rows: readonly (Stake & { readonly isCircle?: boolean })[]): Html => {
  const hasRange = rows.some(({ min, max, isStated }) => isStated && min !== max)
  const hasCircle = rows.some(({ isCircle }) => isCircle === true)
  if (!hasRange && !hasCircle) return html``
  const range = html`<span>${square('f1')}at least</span><span>${square('f1l')}up to, where a range is stated</span>`
  return html`<div class="key">${hasRange ? range : html``}${hasCircle ? html`<span>↺ met above already: a circle</span>` : html``}</div>\n`
}

const treeCard = (title: string, said: string, tree: readonly TreeRow[], width: string): Html =>
  html`<div class="card${width}"><h3>${title}</h3><p>${said}</p>
${keyOf(rowsOfTree(tree))}<div class="tree">${branch(tree)}</div></div>
`

const entityCell = (row: ReportRow, side: 'owner' | 'owned'): Html => {
  const [kind, name, id] = [row[`${side}_kind`], row[`${side}_name`], row[`${side}_id`]]
  if (kind === 'protected') return html`<td><i>protected</i></td>`
  const shown = textOrDash(name, LONGEST_CELL)
  return html`<td>${id === null ? shown : html`<a href="#/company/${cellText(id)}">${shown}</a>`}</td>`
}

const table = (rows: readonly ReportRow[]): Html => {
  const lines = rows.map((row) => {
    const { min, max, isStated } = stakeOf(row)
    return html`<tr><td>${row.direction === 'up' ? 'owner' : 'holding'}, level ${cellText(row.level)}</td>${entityCell(row, 'owner')}${entityCell(row, 'owned')}<td class="n">${shownStake(min, max, isStated)}</td><td>${row.is_cycle === true ? '↺ circle' : ''}</td></tr>\n`
  })
  return html`<div class="wide" tabindex="0" role="group" aria-label="Table: holdings"><table><caption class="vh">Owners and holdings</caption>
<thead><tr><th scope="col">where</th><th scope="col">owner</th><th scope="col">company</th><th scope="col" class="n">stake</th><th scope="col">circle</th></tr></thead>
<tbody>
${lines}</tbody></table></div>`
}

/** A holding that is this large counts as mostly owned. */
const MOSTLY = 75

const leadOf = (owners: readonly TreeRow[], holdings: readonly TreeRow[], cycles: number): string => {
  const held = new Map(
    rowsOfTree(holdings)
      .filter(({ isCircle }) => !isCircle)
      .map((row) => [row.number, row]),
  )
  const mostly = [...held.values()].filter(({ min, isStated }) => isStated && min >= MOSTLY).length
  const levels = Math.max(0, ...holdings.map((row) => row.levels))
  return [
    owners.length === 0 ? 'No owners are known' : countedAs(owners.length, 'direct owner'),
    held.size === 0
      ? 'no holdings are known'
      : `${countedAs(held.size, 'holding')} on ${countedAs(levels, 'level')}, ${shownNumber(holdings.length)} of them direct, ${shownNumber(mostly)} held by ${MOSTLY} % or more`,
    ...(cycles > 0 ? [`↺ ${countedAs(cycles, 'holding')} in circles`] : []),
  ].join('; ')
}

const COMPANY = objectOf({ id: companyId })

export const ownership = fragment(COMPANY, async ({ ask }, { id }) => {
  const { rows, isCut } = await ask('ownership', { id })
  if (rows.length === 0)
    return html`<p class="lead">No direct owners or holdings are known that this token may see.</p>\n`
  const [owners, holdings] = [treeOf(rows, 'owned'), treeOf(rows, 'owner')]
  const cycles = rows.filter((row) => row.is_cycle === true).length
  const graph = layOut(rows)
  const hasFurther = owners.some(({ children }) => children.length > 0)
  const ownersCard =
    owners.length === 0
      ? html``
      : treeCard(
          'Owners',
          hasFurther ? 'direct ones; a row with an arrow shows who owns it' : 'direct, as reported',
          owners,
          hasFurther ? ' c6' : '',
        )
  const ultimate = hasFurther
    ? html`<div class="card c6"><h3>Ultimate owners</h3><p>stakes multiplied along each path, then summed</p>${place({ part: 'ultimate-owners', parameters: { id }, title: 'Ultimate owners', width: 'plain' })}</div>`
    : html``
  const holdingsCard =
    holdings.length === 0
      ? html``
      : treeCard(
          'Holdings',
          'the largest groups first; a row with an arrow opens; a number at the end counts what lies below',
          holdings,
          '',
        )
  const [self] = (await ask('company', { id })).rows
  const name = cellText(self?.company_name) || `Company ${id}`
  return html`<p class="lead">${leadOf(owners, holdings, cycles)}.${isCut ? ' There are more levels or holdings than are shown here.' : ''}</p>
<div class="grid">${ownersCard}${ultimate}${holdingsCard}${graph === undefined ? html`` : picture(graph)}
<div class="card"><div class="fold bare"><details><summary>As a table<span class="vh"> of holdings</span> · ${countedAs(rows.length, 'row')}</summary>${table(rows)}</details>${csvButton('holdings', { id }, { name: `holdings of ${name}`, of: `Holdings of ${name}` })}</div></div></div>
`
})

/** Rows of ultimate owners that are open. */
const OPEN_ULTIMATE = 12

export const ultimateOwners = fragment(COMPANY, async ({ ask }, { id }) => {
  const { rows, isCut } = await ask('ultimate-owners', { id })
  if (rows.length === 0) return html`<p class="soft">None: every path upwards ends in a circle.</p>\n`
  const lines = rows.map((row) => {
    const idOf = (column: string): string | null => (row[column] === null ? null : cellText(row[column]))
    const entity = {
      ...{ number: -1, kind: cellText(row.owner_kind), name: cellText(row.owner_name) || '(no name)' },
      ...{ id: idOf('owner_id'), country: idOf('owner_country') },
    }
    return html`<li>${rowLine(entity, stakeOf(row), html``, '')}</li>\n`
  })
  const others = lines.slice(OPEN_ULTIMATE)
  const more =
    others.length === 0
      ? html``
      : html`<details><summary>${others.length} more${isCut ? ', and further ones' : ''}</summary><div class="tree"><ul>${others}</ul></div></details>\n`
  return html`${keyOf(rows.map(stakeOf))}<div class="tree"><ul>
${lines.slice(0, OPEN_ULTIMATE)}</ul></div>
${more}`
})
