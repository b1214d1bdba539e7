/** What the report says of a month against what happened. */

import { sectionsOf } from '../report/read-report.ts'
import type { Brought, ExpectedNight } from './month-world.ts'

const totalOf = ({ added, restated, changed, unchanged }: Brought): number =>
  added + restated + changed + unchanged

/** @returns what differs, a line each */
export const compareStory = (
  page: string,
  nights: readonly ExpectedNight[],
  companies: number,
): readonly string[] => {
  const sections = new Map(sectionsOf(page).map((section) => [section.id, section]))
  const rowsOf = (id: string): readonly string[] => (sections.get(id)?.rows ?? []).map((row) => row.join(' '))
  const loaded = nights.filter(({ brought }) => totalOf(brought) > 0)
  // As every command of its own, a list makes a snapshot.
  const lists = nights.filter(({ listed }) => listed !== undefined).length
  const expected: Readonly<Record<string, readonly string[]>> = {
    nights: loaded
      .map(
        ({ day, brought }) =>
          `${day} ${totalOf(brought)} ${brought.added} ${brought.restated} ${brought.changed} ${brought.unchanged}`,
      )
      .reverse(),
    'restated-nights': nights
      .filter(({ restatements }) => restatements > 0)
      .map(({ day, restatements }) => `${day} ProfitAndLoss ${restatements}`),
    'quarantine-nights': nights
      .filter(({ quarantined }) => quarantined > 0)
      .map(({ day, quarantined }) => `${day} ID_NOT_WHOLE ${quarantined}`),
  }
  const wrong = Object.entries(expected).flatMap(([id, rows]) =>
    String(rowsOf(id)) === String(rows)
      ? []
      : [`the report says of ${id}: ${rowsOf(id).join(', ')}; expected ${rows.join(', ')}`],
  )
  const [numbers = []] = sections.get('numbers')?.rows ?? []
  const committed = nights.filter(({ isCommitted }) => isCommitted).length
  const sum = nights.reduce((lines, { quarantined }) => lines + quarantined, 0)
  const names = nights.flatMap(({ drift }) => drift)
  const counts = {
    companies: [Number(numbers[1]), companies],
    quarantined: [Number(numbers[6]), sum],
    snapshots: [rowsOf('snapshots').length, committed + lists],
    'unknown names': [rowsOf('drift-names').length, names.length],
    'largest restatements': [
      rowsOf('largest-restatements').length,
      Math.min(
        100,
        nights.reduce((all, { restatements }) => all + restatements, 0),
      ),
    ],
  } as const
  for (const [what, [shown, happened]] of Object.entries(counts))
    if (shown !== happened) wrong.push(`the report says ${shown} of ${what}, expected ${happened}`)
  const percents = (sections.get('largest-restatements')?.rows ?? []).map((row) => Math.abs(Number(row[8])))
  if (String(percents) !== String(percents.toSorted((a, b) => b - a)))
    wrong.push('the largest restatements are not first')
  return wrong
}
