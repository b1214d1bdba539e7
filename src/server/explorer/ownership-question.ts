/**
 * Who owns a company and what it owns, level by level: holdings with their stakes, the nearest first. Entities are numbered
 * in the order in which they are met; protected ones have neither name nor identifier.
 */

import { objectOf } from '../../support/json-form.ts'
import { companyId, type Question, question, type RunStatement, rowObjects } from './question.ts'

/** Levels of owners and of holdings. */
export const MOST_LEVELS = 10
const MOST_HOLDINGS = 1000

interface Holding {
  readonly direction: unknown
  readonly level: unknown
  readonly owner: string
  readonly owned: string
  readonly stake: readonly unknown[]
}

/** Holdings of all that is met upwards and downwards, each once. Who is met again in a circle keeps the nearest level. */
const holdingsAround = (id: number | string): string => `WITH RECURSIVE
edges AS (SELECT owner_id, owned_id FROM owners_stated WHERE kind = 'Direct' GROUP BY ALL),
up AS (
  SELECT ${id}::BIGINT AS id, 0 AS level
  UNION
  SELECT e.owner_id, u.level + 1 FROM up AS u JOIN edges AS e ON e.owned_id = u.id WHERE u.level < ${MOST_LEVELS}
), down AS (
  SELECT ${id}::BIGINT AS id, 0 AS level
  UNION
  SELECT e.owned_id, d.level + 1 FROM down AS d JOIN edges AS e ON e.owner_id = d.id WHERE d.level < ${MOST_LEVELS}
),
above AS (SELECT id, min(level) AS level FROM up GROUP BY id),
below AS (SELECT id, min(level) AS level FROM down GROUP BY id),
held AS (FROM holdings_of((SELECT list(id) FROM (SELECT id FROM above UNION SELECT id FROM below))))
SELECT CASE WHEN a.id IS NULL THEN 'down' ELSE 'up' END AS direction, coalesce(a.level, b.level) + 1 AS level,
  h.owner_id, h.owned_id, h.min_stake, h.max_stake, h.is_stated
FROM held AS h LEFT JOIN above AS a ON a.id = h.owned_id LEFT JOIN below AS b ON b.id = h.owner_id
WHERE coalesce(a.level, b.level) < ${MOST_LEVELS}
ORDER BY direction DESC, level, max_stake DESC, min_stake DESC, owner_id, owned_id LIMIT ${MOST_HOLDINGS + 1}`

/** Whether a holding closes a circle: whoever owns comes to be owned by what is owned. */
const closesCircle = (
  ownedBy: ReadonlyMap<string, readonly string[]>,
  { owner, owned }: Holding,
): boolean => {
  const reached = new Set([owner])
  for (const one of reached) for (const above of ownedBy.get(one) ?? []) reached.add(above)
  return reached.has(owned)
}

const ownersByOwned = (holdings: readonly Holding[]): ReadonlyMap<string, readonly string[]> =>
  new Map(
    [...Map.groupBy(holdings, ({ owned }) => owned)].map(([owned, all]) => [
      owned,
      all.map(({ owner }) => owner),
    ]),
  )

/** An entity as it is shown: `kind` is company, person or protected; `id` only of companies that have a page, a country of companies. */
type Shown = readonly [kind: string, name: unknown, id: unknown, country: unknown]

const PROTECTED: Shown = ['protected', null, null, null]

const shownEntities = async (run: RunStatement, ids: readonly string[]): Promise<readonly Shown[]> => {
  const table = await run(`WITH asked AS (SELECT unnest([${ids.join(', ')}]::BIGINT[]) AS id),
known AS (
  SELECT entity_id AS id, bool_or(is_protected) AS is_protected, bool_or(is_company) AS is_company,
    arg_max(name, coalesce(updated_at, '-infinity'::TIMESTAMPTZ)) AS name
  FROM relation_entities WHERE NOT is_history AND entity_id IN (SELECT id FROM asked) GROUP BY entity_id
)
SELECT a.id, k.is_protected, coalesce(k.is_company, true) OR c.internal_id IS NOT NULL AS is_company,
  coalesce(c.company_name, r.name, k.name) AS name, c.internal_id AS page, coalesce(c.country_code, r.country_code) AS country
FROM asked AS a LEFT JOIN known AS k ON k.id = a.id LEFT JOIN companies AS c ON c.internal_id = a.id
LEFT JOIN relations AS r ON r.internal_id = a.id`)
  const shown = new Map(
    rowObjects(table).map((row): [string, Shown] => [
      String(row.id),
      row.is_protected === true
        ? PROTECTED
        : row.is_company === true
          ? ['company', row.name, row.page, row.country]
          : ['person', row.name, row.page, null],
    ]),
  )
  // An id that is not shown is masked, and so tells nothing.
  return ids.map((id) => shown.get(id) ?? PROTECTED)
}

const ENTITY_COLUMNS = ['', '_kind', '_name', '_id', '_country'] as const
const COMPANY = objectOf({ id: companyId })

const ownership = question(COMPANY, async (run, { id }) => {
  const { rows } = await run(holdingsAround(id))
  const holdings = rows.slice(0, MOST_HOLDINGS).map(
    ([direction, level, owner, owned, ...stake]): Holding => ({
      ...{ direction, level, stake },
      ...{ owner: String(owner), owned: String(owned) },
    }),
  )
  const isCut = rows.length > MOST_HOLDINGS || holdings.some(({ level }) => level === MOST_LEVELS)
  const ids = [...new Set([String(id), ...holdings.flatMap(({ owner, owned }) => [owner, owned])])]
  const shown = await shownEntities(run, ids)
  const numbers = new Map(ids.map((one, at) => [one, at]))
  const ownedBy = ownersByOwned(holdings)
  const entity = (one: string): readonly unknown[] => {
    const number = numbers.get(one) ?? 0
    return [number, ...(shown[number] ?? [])]
  }
  return {
    columns: [
      ...['direction', 'level'],
      ...ENTITY_COLUMNS.map((name) => `owner${name}`),
      ...ENTITY_COLUMNS.map((name) => `owned${name}`),
      ...['min_stake', 'max_stake', 'is_stated', 'is_cycle'],
    ],
    rows: holdings.map((holding) => [
      ...[holding.direction, holding.level],
      ...entity(holding.owner),
      ...entity(holding.owned),
      ...holding.stake,
      closesCircle(ownedBy, holding),
    ]),
    ...(isCut && { isCut }),
  }
})

const MOST_ULTIMATE = 50

/** Who stands at the top, with the stakes by all paths together: the rows of `ultimate_owners`. */
const ultimateOwners = question(COMPANY, async (run, { id }) => {
  const { rows } = await run(
    `SELECT owner_id, min_stake, max_stake, paths, level FROM ultimate_owners(${id}) ORDER BY max_stake DESC, min_stake DESC, owner_id LIMIT ${MOST_ULTIMATE + 1}`,
  )
  const most = rows.slice(0, MOST_ULTIMATE)
  const shown = await shownEntities(
    run,
    most.map(([owner]) => String(owner)),
  )
  return {
    columns: [
      ...ENTITY_COLUMNS.slice(1).map((name) => `owner${name}`),
      'min_stake',
      'max_stake',
      'paths',
      'level',
    ],
    rows: most.map(([_owner, ...sums], at) => [...(shown[at] ?? PROTECTED), ...sums]),
    ...(rows.length > MOST_ULTIMATE && { isCut: true as const }),
  }
})

export const OWNERSHIP_QUESTIONS: Readonly<Record<string, Question>> = {
  ownership,
  'ultimate-owners': ultimateOwners,
}
