/** Ownership in invented webs of companies: cycles, own shares, ranges, share classes, records of both sides, ended ones. */

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { seededRandom } from '../../data/random.ts'
import type { Relation, RelationsCompany } from '../../src/contract/objects.ts'
import { convert } from '../../src/jobs/convert.ts'
import { openQuery } from '../../src/jobs/query.ts'
import { readRows } from '../../src/lake/query/read-rows.ts'
import { fromRecords } from '../../src/source/from-records.ts'
import { someRows } from '../support/same-rows.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { chainOf, groupOf, holdingsOf, ultimateOf } from './expected.ts'

type Ownership = NonNullable<Relation['Ownerships']>[number]

const COMPANIES = Array.from({ length: 22 }, (_, at) => 500 + at)
const PERSONS = [910, 911, 912]
const isPerson = (id: number): boolean => PERSONS.includes(id)

const webOf = (seed: number): RelationsCompany[] => {
  const random = seededRandom(seed, 'web', 0)
  const stake = (): Ownership => {
    const [a, b] = [random.whole(1, 60), random.whole(1, 99)]
    const range = { MinOwnershipStake: Math.min(a, b), MaxOwnershipStake: Math.max(a, b) }
    return random.pick<Ownership>([
      { OwnershipStake: a },
      { OwnershipStake: b },
      range,
      { MaxOwnershipStake: b },
      { OwnershipStake: Math.max(a, b), MinOwnershipStake: Math.min(a, b) },
      {},
    ])
  }
  const ownership = (): Ownership => ({
    ...stake(),
    ...(random.chance(0.3) && { ShareClass: random.pick(['A', 'B']) }),
    ...(random.chance(0.15) && { OutDate: '2020-01-01T00:00:00' }),
  })
  const relations = (from: readonly number[], most: number): Relation[] => {
    const ids = new Set(Array.from({ length: random.whole(0, most) }, () => random.pick(from)))
    return [...ids].map((InternalId) => ({
      ...{ InternalId, IsCompany: !isPerson(InternalId) },
      Ownerships: Array.from({ length: random.whole(1, 3) }, ownership),
    }))
  }
  return COMPANIES.map((InternalId) => ({
    InternalId,
    Parents: relations([...COMPANIES, ...PERSONS], 2),
    Children: relations(COMPANIES, 1),
  }))
}

/** Rows in any order, with numbers to six digits. */
const keys = (rows: readonly object[]): string[] => {
  const text = (value: unknown): unknown =>
    typeof value === 'number' ? Math.round(value * 1e6) / 1e6 : String(value)
  return rows.map((row) => Object.values(row).map(text).join(' ')).sort()
}

test('holdings, chains, owners at the top and groups of a web are as computed from its records', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  const records = webOf(1)
  await convert({ from: fromRecords('web', records), lake })
  const query = await openQuery({ lake })
  const ask = async (sql: string) => keys([...(await readRows(await query.run(sql)))])
  const holdings = holdingsOf(records)
  expect(await ask('SELECT owner_id, owned_id, min_stake, max_stake FROM owner_holdings')).toEqual(
    keys(someRows(holdings, 'holdings')),
  )
  const seen = { cycles: 0, ranges: 0, levels: 0, merged: 0, groups: 0 }
  for (const id of COMPANIES) {
    const chain = chainOf(holdings, id, 10)
    const columns =
      "owner_id, level, min_stake, max_stake, list_aggregate(path, 'string_agg', ',') AS path, is_cycle, is_top"
    expect(await ask(`SELECT ${columns} FROM ownership_chain(${id}, 10)`)).toEqual(keys(chain))
    const top = ultimateOf(holdings, id)
    expect(await ask(`SELECT owner_id, min_stake, max_stake FROM ultimate_owners(${id})`)).toEqual(keys(top))
    const group = groupOf(holdings, isPerson, id)
    expect(await ask(`SELECT internal_id, level FROM group_of(${id})`)).toEqual(
      keys([...group].map(([one, level]) => ({ one, level }))),
    )
    seen.groups = Math.max(seen.groups, group.size)
    seen.cycles += chain.filter(({ isCycle }) => isCycle).length
    seen.levels = Math.max(seen.levels, ...chain.map(({ level }) => level))
    seen.ranges += chain.filter(({ min, most }) => min > 0 && min < most).length
    seen.merged += chain.filter(({ isTop }) => isTop).length - top.length
  }
  query.close()
  for (const [what, count] of Object.entries(seen)) expect([what, count > 1]).toEqual([what, true])
})
