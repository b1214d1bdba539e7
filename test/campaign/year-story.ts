/** What the report says of a year against what happened. */

import { sectionsOf } from '../report/read-report.ts'
import type { Brought, ExpectedNight, Part } from './year-expected.ts'

/** As the report shows them. */
const MOST_NIGHTS = 92
const MOST_RESTATEMENTS = 100
const MOST_SNAPSHOTS = 100

export interface YearStory {
  readonly nights: readonly ExpectedNight[]
  /** Index of the last night that a compaction followed, and the companies that it left: of the nights before it the report says nothing. */
  readonly compacted: { readonly night: number; readonly companies: number } | undefined
  /** Index of the night that a forget followed: of names that came before it the drift may be dropped. */
  readonly forgot: number | undefined
  /** Ids of what was erased: its restatements are gone. */
  readonly forgotten: ReadonlySet<number>
  /** Companies that the lake shows. */
  readonly shown: number
  /** Snapshots that are kept. */
  readonly snapshots: number
}

const count = (brought: Brought, part: Part): number =>
  [...brought.values()].filter((one) => one === part).length

const nightsOf = ({ nights, compacted }: YearStory): readonly string[] => {
  const loaded = nights
    .slice(compacted === undefined ? 0 : compacted.night + 1)
    .filter(({ brought }) => brought.size > 0)
    .map(
      ({ day, brought }) =>
        `${day} ${brought.size} ${count(brought, 'added')} ${count(brought, 'restated')} ${count(brought, 'changed')} ${count(brought, 'unchanged')}`,
    )
  // What a compaction left counts as added in its night.
  const left =
    compacted === undefined
      ? []
      : [`${nights[compacted.night]?.day} ${compacted.companies} ${compacted.companies} 0 0 0`]
  return [...left, ...loaded].reverse().slice(0, MOST_NIGHTS)
}

/** @returns what differs, a line each */
export const compareStory = (page: string, story: YearStory): readonly string[] => {
  const { nights, forgot, forgotten, shown, snapshots } = story
  const restatementsOf = ({ restated }: ExpectedNight): number =>
    restated.filter((id) => !forgotten.has(id)).length
  const sections = new Map(sectionsOf(page).map((section) => [section.id, section]))
  const rowsOf = (id: string): readonly string[] => (sections.get(id)?.rows ?? []).map((row) => row.join(' '))
  const expected: Readonly<Record<string, readonly string[]>> = {
    // A compaction keeps what was restated before it.
    'restated-nights': nights
      .filter((night) => restatementsOf(night) > 0)
      .map((night) => `${night.day} ProfitAndLoss ${restatementsOf(night)}`),
    'quarantine-nights': nights
      .filter(({ quarantined }) => quarantined > 0)
      .map(({ day, quarantined }) => `${day} ID_NOT_WHOLE ${quarantined}`),
  }
  const wrong = Object.entries(expected).flatMap(([id, rows]) =>
    String(rowsOf(id)) === String(rows)
      ? []
      : [`the report says of ${id}: ${rowsOf(id).join(', ')}; expected ${rows.join(', ')}`],
  )
  // Nights without companies are rows, too; of those that brought some the newest are there.
  const brought = (sections.get('nights')?.rows ?? [])
    .filter(([, companies]) => Number(companies) > 0)
    .map((row) => row.slice(0, 6).join(' '))
  const newest = nightsOf(story).slice(0, brought.length)
  if (String(brought) !== String(newest) || (brought.length === 0 && nightsOf(story).length > 0))
    wrong.push(`the report says of nights: ${brought.join(', ')}; expected ${newest.join(', ')}`)
  const [numbers = []] = sections.get('numbers')?.rows ?? []
  const restatements = nights.reduce((sum, night) => sum + restatementsOf(night), 0)
  const counts = {
    companies: [Number(numbers[1]), shown],
    quarantined: [Number(numbers[6]), nights.reduce((lines, { quarantined }) => lines + quarantined, 0)],
    snapshots: [rowsOf('snapshots').length, Math.min(MOST_SNAPSHOTS, snapshots)],
    'largest restatements': [
      rowsOf('largest-restatements').length,
      Math.min(MOST_RESTATEMENTS, restatements),
    ],
  } as const
  for (const [what, [said, happened]] of Object.entries(counts))
    if (said !== happened) wrong.push(`the report says ${said} of ${what}, expected ${happened}`)
  const namesSince = (night: number): number => nights.slice(night).flatMap(({ drift }) => drift).length
  const [names, most, min] = [rowsOf('drift-names').length, namesSince(0), namesSince((forgot ?? -1) + 1)]
  if (names < min || names > most)
    wrong.push(`the report says ${names} of unknown names, expected ${min} to ${most}`)
  const percents = (sections.get('largest-restatements')?.rows ?? []).map((row) => Math.abs(Number(row[9])))
  if (String(percents) !== String(percents.toSorted((a, b) => b - a)))
    wrong.push('the largest restatements are not first')
  return wrong
}
