/** Changes: figures that a later load changed, the largest first. */

import { barTable, nightBars } from '../draw/bars.ts'
import { drawMoves, itemAndYear } from '../draw/companies.ts'
import { type Html, html } from '../html.ts'
import type { Numbers } from '../numbers.ts'
import { cellNumber, cellText, columnSum } from '../rows.ts'
import type { ReportPage, RowsOf } from '../section.ts'
import { counted, dateWords } from '../words.ts'

const LARGEST = 100
const PARTS = 600
const ITEMS = 400
/** Line items with a bar of their own. */
const BARS = 6

export const RESTATEMENTS_ID = 'largest-restatements'

const lead = (rowsOf: RowsOf, numbers: Numbers): Html => {
  const figures = columnSum(rowsOf('restated-items'), 'figures')
  if (figures === 0) return html``
  const nights = rowsOf('restated-nights')
  const newest = nights.at(-1)?.night
  const newly = columnSum(
    nights.filter(({ night }) => night === newest),
    'figures',
  )
  return html`${counted(figures, 'figure', numbers.whole(figures))} came again with another value, ${newly === figures ? 'all' : numbers.whole(newly)} of them on ${dateWords(cellText(newest))}.`
}

export const changes: ReportPage = {
  id: 'changes',
  title: 'Changes',
  none: 'No figure came again with another value.',
  lead,
  sections: [
    {
      id: RESTATEMENTS_ID,
      title: 'Largest restatements',
      about:
        'By change in percent of the figure before; where the currency changed there is none, and these come last.',
      sql: `SELECT r.internal_id, r.company_name, r.country_code, r.consolidation, r.line_item, coalesce(n.name, r.line_item) AS item, r.fiscal_year,
  r.old_value, r.new_value, round(r.percent, 2) AS percent, r.old_currency, r.new_currency AS currency, r.snapshot
FROM restatements AS r LEFT JOIN line_item_names AS n ON n.category = r.category AND n.line_item = r.line_item
ORDER BY abs(r.percent) DESC NULLS LAST, r.internal_id, r.consolidation, r.line_item, r.fiscal_year, r.snapshot LIMIT ${LARGEST}`,
      most: LARGEST,
      span: 8,
      draw: (rows, around) =>
        drawMoves(rows, { caption: 'Largest restatements', small: itemAndYear, tone: 'f2' }, around),
      none: 'No figure came again with another value.',
    },
    {
      id: 'restated-items',
      title: 'Restated by line item',
      about: 'Figures that came again with another value.',
      sql: `SELECT r.line_item, coalesce(any_value(n.name), r.line_item) AS item, count(*) AS figures
FROM restatements AS r LEFT JOIN line_item_names AS n ON n.category = r.category AND n.line_item = r.line_item
GROUP BY r.line_item ORDER BY figures DESC, r.line_item LIMIT ${ITEMS}`,
      most: ITEMS,
      span: 4,
      draw: (rows, { numbers }) => {
        const others = rows.slice(BARS)
        return barTable(
          [
            ...rows.slice(0, BARS).map((row) => ({
              name: html`${cellText(row.item)}`,
              value: cellNumber(row.figures),
              tone: 'f2' as const,
            })),
            ...(others.length > 0
              ? [
                  {
                    name: html`${counted(others.length, 'other')}`,
                    value: columnSum(others, 'figures'),
                    tone: 'fr' as const,
                  },
                ]
              : []),
          ],
          'Restated figures by line item',
          numbers,
        )
      },
      none: 'No figure came again with another value.',
    },
    {
      id: 'restated-nights',
      title: 'Restated figures a night',
      about: 'By the day (UTC) since when the lake has both values, and category; the newest first.',
      sql: `SELECT * FROM (
  SELECT (known_since AT TIME ZONE 'UTC')::DATE AS night, category, count(*) AS figures
  FROM restatements GROUP BY ALL ORDER BY night DESC, category LIMIT ${PARTS}
) ORDER BY night, category`,
      most: PARTS,
      span: 6,
      isFolded: true,
      draw: (rows, { numbers }) =>
        nightBars(rows, 'category', 'figures', 'Restated figures a night', numbers, 'f2'),
      none: 'No figure came again with another value.',
    },
  ],
}
