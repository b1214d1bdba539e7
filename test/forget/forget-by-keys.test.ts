/** Rows of the forgotten that do not have their ids. */

import { expect, test } from 'vitest'
import { forget } from '../../src/jobs/forget.ts'
import { publish } from '../../src/targets/publish.ts'
import { openBench } from '../run/batch-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { marksBelow } from './planted-lake.ts'

const PERSON = 48151901
const OTHER = 48151902
const national = (id: number): string => `19500101-${id}`
const person = (id: number) => ({
  InternalId: id,
  Name: `Ann Ekl${id}`,
  NationalIdentificationNumber: national(id),
  BirthDate: '1950-01-01',
})
const { InternalId: _, ...byNumber } = person(PERSON)
const { NationalIdentificationNumber: __, ...byBirth } = byNumber

/** A text that stands in one place alone. */
const street = (place: string): object => ({
  Addresses: [{ Street: `zq${place}qz` }],
  Unknown: [`zq${place}qz`],
})
const GONE = ['id', 'number', 'zero', 'swapped', 'past', 'linked', 'line'] as const
const STAYS = ['other', 'open', 'namesake'] as const
const marksOf = (places: readonly string[]): string[] => places.map((place) => `zq${place}qz`)

const RECORDS: readonly object[] = [
  { InternalId: 11, Parents: [{ ...person(PERSON), ...street('id') }] },
  {
    InternalId: 12,
    Parents: [
      { ...byNumber, NationalIdentificationNumber: national(PERSON).replace('-', ' '), ...street('number') },
    ],
  },
  { InternalId: 13, Parents: [{ ...byBirth, InternalId: 0, Name: `EKL${PERSON}, Ann`, ...street('zero') }] },
  // Known by a number that stands beside the known name and day.
  {
    InternalId: 14,
    Children: [
      { ...byBirth, OrgNo: '500101-7777', ...street('swapped') },
      { ...byBirth, ...street('swapped') },
    ],
  },
  { InternalId: 15, Parents: [{ InternalId: OTHER, History: [{ ...byNumber, ...street('past') }] }] },
  { InternalId: 16, Related: [{ Name: 'A. E.', PNo: national(PERSON), Note: 'zqlinkedqz' }] },
  {
    InternalId: 17,
    Parents: [
      { ...person(OTHER), ...street('other') },
      { ...person(OTHER), InternalId: undefined, ...street('open') },
      // Of the same name and day, with a number of somebody else.
      { ...byNumber, NationalIdentificationNumber: '19500101-1111', ...street('namesake') },
    ],
  },
]

const loaded = async () => {
  const bench = openBench(await temporaryFolder())
  const lines = RECORDS.map((record) => JSON.stringify(record))
  const bad = { InternalId: 18, LegalForm: 'text', Parents: [{ ...byNumber, ...street('line') }] }
  await bench.write('relations-a', [...lines, JSON.stringify(bad)])
  await bench.run(['relations-a'], { maxQuarantined: { kind: 'share', share: 0.9 } })
  return bench
}

test('forget erases rows that have the number, or the name beside the day of birth, and no id', async () => {
  const { lake } = await loaded()
  await publish({ lake, formats: ['delta'], rows: ['all'] })
  expect([...(await marksBelow(lake, marksOf([...GONE, ...STAYS])))].sort()).toEqual(
    marksOf([...GONE, ...STAYS]).sort(),
  )
  const planned = await forget({ lake, persons: [PERSON], dryRun: true })
  const done = await forget({ lake, persons: [PERSON] })
  expect(done).toMatchObject({ kind: 'forgotten', unknown: 0, files: planned.files })
  expect([...(await marksBelow(lake, marksOf([...GONE, ...STAYS])))].sort()).toEqual(marksOf(STAYS).sort())
  expect(await marksBelow(lake, [national(PERSON), national(PERSON).replace('-', ' ')])).toEqual(new Set())
})

test('forget erases who is known by a national id alone, and nobody else without an id', async () => {
  const bench = openBench(await temporaryFolder())
  const zero = { ...person(OTHER), InternalId: 0, ...street('open') }
  await bench.write('relations-a', [
    JSON.stringify({ InternalId: 11, Parents: [{ ...byNumber, InternalId: 0, ...street('number') }, zero] }),
  ])
  await bench.run(['relations-a'])
  const { lake } = bench
  const done = await forget({ lake, nationalIds: [national(PERSON)] })
  expect(done).toMatchObject({ kind: 'forgotten', persons: 0, unresolved: 0 })
  expect(await marksBelow(lake, marksOf(['number', 'open']))).toEqual(new Set(marksOf(['open'])))
})

test('forget leaves what has the number and another id', async () => {
  const bench = openBench(await temporaryFolder())
  await bench.write('relations-a', [
    JSON.stringify({ InternalId: 11, Parents: [person(PERSON), { ...person(PERSON), InternalId: OTHER }] }),
    JSON.stringify({ InternalId: 12, Name: 'Ann Firm', OrgNo: national(PERSON) }),
  ])
  await bench.run(['relations-a'])
  await forget({ lake: bench.lake, persons: [PERSON] })
  expect(await bench.query('SELECT company_id, entity_id FROM relation_entities')).toEqual([[11, OTHER]])
  expect(await bench.query('SELECT internal_id, org_no FROM relations ORDER BY 1')).toEqual([
    [11, null],
    [12, national(PERSON)],
  ])
})
