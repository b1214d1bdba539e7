/** Charts, tables and `query` agree: each statement of a report is run again as it stands on the page. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openQuery } from '../../src/jobs/query.ts'
import { report } from '../../src/jobs/report.ts'
import { readRows } from '../../src/lake/query/read-rows.ts'
import { sharedLake } from '../support/lakes.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { every, plain, sectionsOf, ungrouped } from './read-report.ts'

const MONTHS = 'JanFebMarAprMayJunJulAugSepOctNovDec'

/** `2026-11-25T02:36:10.123Z` as `25 Nov 2026, 02:36:10 UTC`, in one piece. */
const instantAs = (value: string): string => {
  const [, year, month, day, time] = /^(\d{4})-(\d\d)-(\d\d)T(\d\d:\d\d:\d\d)/.exec(value) ?? []
  const name = MONTHS.slice(3 * Number(month) - 3, 3 * Number(month))
  return time === undefined ? value : [Number(day), name, `${year},`, time, 'UTC'].join('\u00a0')
}

const shownAs = (value: unknown): string =>
  value === null || value === undefined
    ? ''
    : typeof value === 'object'
      ? JSON.stringify(value)
      : instantAs(String(value))

const written = async (lake: string): Promise<string> => {
  const to = join(await temporaryFolder(), 'report.html')
  await report({ lake, to })
  return readFile(to, 'utf8')
}

/** Numbers at the ends of bars. */
const barsOf = (drawing: string): readonly number[] =>
  every(drawing, /<\/svg><\/td><td class="n"><b>(.*?)<\/b>/g).map((text) => Number(ungrouped(text)))

test('every statement on the page gives in query what stands in its table and its drawing', async () => {
  const lake = await sharedLake('deliveries')
  const sections = sectionsOf(await written(lake))
  expect(sections.map(({ id }) => id)).toEqual([
    ...[
      'numbers',
      'trend',
      'nights',
      'check-nights',
      'durations',
      'snapshots',
      ...['sales', 'sales-changes', 'newly-restated', 'sales-growth'],
      'reporting',
      'item-0',
      'item-1',
      'items',
    ],
    ...['missing-years', 'largest-restatements', 'restated-items', 'restated-nights', 'drift-names'],
    ...['drift-nights', 'quarantine-codes', 'quarantine-nights', 'quarantine-sources', 'rules', 'findings'],
    'companies',
  ])
  const lakeQuery = await openQuery({ lake })
  onTestFinished(() => lakeQuery.close())
  for (const { id, sql, columns, rows } of sections) {
    const answer = await readRows(await lakeQuery.run(sql))
    expect([id, rows]).toEqual([id, answer.map((row) => Object.values(row).map(shownAs))])
    if (answer[0]) expect(columns.map((name) => name.replaceAll(' ', '_'))).toEqual(Object.keys(answer[0]))
  }
  const section = (id: string) => sections.find((one) => one.id === id)
  const rowsOf = (id: string): readonly (readonly string[])[] => section(id)?.rows ?? []
  const drawingOf = (id: string): string => section(id)?.drawing ?? ''
  expect(rowsOf('numbers')[0]?.[1]).toBe('912')
  // As many as are current: none has left.
  expect(rowsOf('trend')[0]?.slice(2, 5)).toEqual(rowsOf('numbers')[0]?.slice(1, 4))
  const sums = [1, 2, 3, 4, 5].map((at) => rowsOf('nights').reduce((sum, row) => sum + Number(row[at]), 0))
  // Both deliveries are of one night: who came with both was new.
  expect(sums).toEqual([912, 912, 0, 0, 0])
  expect(barsOf(drawingOf('nights'))).toEqual(rowsOf('nights').map((row) => Number(row[1])))
  for (const [id, column] of [
    ['items', 3],
    ['missing-years', 3],
    ['restated-items', 2],
    ['restated-nights', 2],
  ] as const)
    expect([id, barsOf(drawingOf(id))]).toEqual([
      id,
      rowsOf(id)
        .slice(0, 10)
        .map((row) => Number(row[column])),
    ])
  // Each field of a heat map is a number of the table.
  for (const [id, shown] of [
    ['reporting', (row: readonly string[]) => Number(row[2])],
    ['item-0', (row: readonly string[]) => Math.round(100 * Number(row[4]))],
  ] as const) {
    const fields = every(drawingOf(id), /<td class="h\d">(.*?)<\/td>/g).map((text) => Number(ungrouped(text)))
    expect([id, [...fields].sort()]).toEqual([id, rowsOf(id).map(shown).sort()])
  }
  // The largest country first, the newest year first, the earlier years together last.
  const [first] = every(drawingOf('reporting'), /<tbody>\s*<tr>([\s\S]*?)<\/tr>/g)
  expect(plain(first ?? '')).toMatch(/^SE Sweden/)
  const heads = every(
    every(drawingOf('reporting'), /<thead>([\s\S]*?)<\/thead>/g)[0] ?? '',
    /<th scope="col">(.*?)<\/th>/g,
  )
  expect(heads.map(plain)).toEqual([
    'Country',
    '2025',
    '2024',
    '2023',
    '2022',
    '2021',
    '2020',
    '2019',
    '≤ 2018',
  ])
  // Companies have their names, which lead to their rows.
  const [name = '', id = ''] = [
    rowsOf('largest-restatements')[0]?.[1],
    rowsOf('largest-restatements')[0]?.[0],
  ]
  expect(drawingOf('largest-restatements')).toContain(`<a href="#company-${id}"><bdi>${name}</bdi></a>`)
  expect(drawingOf('companies')).toContain(`<tr id="company-${id}">`)
})
