/** Beside the figures of a company: its peers, what loads changed, and what is probably wrong. */

import { numbersIn } from '../report/numbers.ts'
import { stackedBar } from '../report/svg.ts'
import { type AnswerRow, answerRows, type ExplorerAnswer } from './api.ts'
import { fromHtml, h, untrusted } from './dom.ts'
import { scaleInWords, shownChange, shownDay, shownNumber, shownShare } from './figures.ts'

const numbers = numbersIn('en')
const LONGEST_NAME = 80
const LONGEST_VALUE = 160

const orNone = (value: unknown, shown: (share: number) => string): string =>
  typeof value === 'number' ? shown(value) : '–'

const peerRow = (row: AnswerRow, most: number, factor: number): HTMLElement => {
  const isSelf = Number(row.rank) === 0
  const sales = Number(row.net_sales_eur)
  const name = untrusted(row.company_name, LONGEST_NAME)
  const scaled = sales / factor
  return h(
    'tr',
    {},
    h(
      'th',
      { scope: 'row', class: 'quiet' },
      isSelf ? h('b', {}, name) : h('a', { href: `#/company/${String(row.internal_id)}` }, name),
      h('small', {}, [row.country_code, row.fiscal_year].filter(Boolean).join(', ')),
    ),
    h('td', { class: 'b' }, fromHtml(stackedBar([{ value: sales, tone: isSelf ? 'f1' : 'f1l' }], most))),
    h('td', { class: 'n' }, scaled < 10 ? numbers.fixed(scaled, 1) : numbers.whole(scaled)),
    h('td', { class: 'n' }, orNone(row.growth, shownChange)),
    h('td', { class: 'n hide' }, orNone(row.ebit_margin, shownShare)),
  )
}

export const showPeers = (answer: ExplorerAnswer): readonly Node[] => {
  const rows = answerRows(answer)
  if (rows.length < 2)
    return [
      h(
        'p',
        { class: 'soft' },
        'None. Peers have the same industry, by its first two digits, and net sales in a currency with rates.',
      ),
    ]
  const sales = rows.map((row) => Number(row.net_sales_eur))
  const most = Math.max(...sales)
  const [factor, word] = scaleInWords(most)
  const unit = [word, 'EUR'].filter(Boolean).join(' ')
  return [
    h(
      'p',
      { class: 'soft' },
      `Industry ${String(rows[0]?.division)}, nearest by latest net sales in ${unit}, same country preferred`,
    ),
    h(
      'table',
      { class: 'bars peers' },
      h('caption', { class: 'vh' }, `Peers by net sales in ${unit}`),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          h('th', { scope: 'col' }, 'Company'),
          h('th', { scope: 'col', class: 'b' }, h('span', { class: 'vh' }, 'bar')),
          h('th', { scope: 'col', class: 'n' }, 'Sales'),
          h('th', { scope: 'col', class: 'n' }, 'Growth'),
          h('th', { scope: 'col', class: 'n hide' }, 'EBIT margin'),
        ),
      ),
      h('tbody', {}, ...rows.map((row) => peerRow(row, most, factor))),
    ),
  ]
}

/** Rows of changes that are open. */
const OPEN = 8

const counted = (value: unknown, one: string): string =>
  `${shownNumber(Number(value))} ${one}${Number(value) === 1 ? '' : 's'}`

const plainColumn = (name: unknown): string => {
  const text = String(name).replaceAll('_', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const beforeAndAfter = (before: Node | string, after: Node | string): readonly Node[] => [
  h('span', { class: 'old' }, before),
  h('span', { class: 'arrow', 'aria-hidden': 'true' }, '→'),
  h('span', { class: 'vh' }, ' became '),
  h('b', {}, after),
]

const changeText = (row: AnswerRow): readonly (Node | string)[] => {
  const { kind, item, fiscal_year: year, old_value: before, new_value: after } = row
  if (kind === 'first')
    return [`First seen, ${Number(after) === 0 ? 'without figures' : `with ${counted(after, 'figure')}`}`]
  if (kind === 'figures') return [`Fiscal year ${String(year)} came: ${counted(after, 'figure')}`]
  if (kind === 'gone') return [`Fiscal year ${String(year)} lost ${counted(before, 'figure')}`]
  if (kind === 'restated')
    return [
      untrusted(item, LONGEST_NAME),
      ` ${String(year)}: `,
      ...beforeAndAfter(shownNumber(Number(before)), shownNumber(Number(after))),
      ' ',
      h('small', {}, [row.currency, 'restated'].filter(Boolean).join(', ')),
    ]
  return [
    `${plainColumn(item)}: `,
    ...beforeAndAfter(untrusted(before, LONGEST_VALUE), untrusted(after, LONGEST_VALUE)),
  ]
}

const changeItem = (row: AnswerRow): HTMLElement =>
  h(
    'li',
    {},
    h('small', { class: 'num', title: `snapshot ${String(row.snapshot)}` }, shownDay(row.loaded_at)),
    h('span', {}, ...changeText(row)),
  )

export const showChanges = (answer: ExplorerAnswer): readonly Node[] => {
  const items = answerRows(answer).map(changeItem)
  const older = items.slice(OPEN)
  return [
    h('p', { class: 'soft' }, 'What the loads changed, newest first'),
    h('ol', { class: 'steps' }, ...items.slice(0, OPEN)),
    ...(older.length === 0
      ? []
      : [h('details', {}, h('summary', {}, `${older.length} more`), h('ol', { class: 'steps' }, ...older))]),
  ]
}

/** Rules on the data in the words of a reader. */
const RULES: Readonly<Record<string, string>> = {
  balance: 'The parts of the total do not add up',
  currency: 'The currency is another one than before',
  duplicates: 'Other companies have the same organisation number',
  future: 'A date or year that is still to come',
  gaps: 'Years without any figure between others',
  scale: 'About 1,000 or 1,000,000 times the years around it',
  stakes: 'Stakes of owners above 100 %',
}

const orDash = (value: unknown): string => (typeof value === 'number' ? shownNumber(value) : '–')

const findingRow = (row: AnswerRow): HTMLElement => {
  const isError = row.severity === 'error'
  return h(
    'tr',
    {},
    h(
      'th',
      { scope: 'row' },
      h('span', { class: isError ? 'bad' : 'soft' }, isError ? '✖ error: ' : 'note: '),
      RULES[String(row.rule)] ?? String(row.rule),
      h(
        'small',
        {},
        untrusted(row.item, LONGEST_NAME),
        row.fiscal_year === null ? '' : ` ${String(row.fiscal_year)}`,
        ', rule ',
        h('a', { href: '#/quality' }, String(row.rule)),
      ),
    ),
    h('td', { class: 'n' }, orDash(row.value)),
    h('td', { class: 'n' }, orDash(row.expected)),
  )
}

export const showFindings = (answer: ExplorerAnswer): readonly Node[] => {
  const rows = answerRows(answer)
  if (rows.length === 0)
    return [h('p', {}, h('span', { class: 'good' }, '✔'), ' No rule on the data is broken.')]
  const titles = ['What is probably wrong', 'Reported', 'Expected'].map((title, at) =>
    h('th', { scope: 'col', class: at > 0 ? 'n' : undefined }, title),
  )
  return [
    h(
      'table',
      { class: 'findings' },
      h('caption', { class: 'vh' }, 'Quality findings'),
      h('thead', {}, h('tr', {}, ...titles)),
      h('tbody', {}, ...rows.map(findingRow)),
    ),
  ]
}
