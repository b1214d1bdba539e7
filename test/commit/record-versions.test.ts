import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PartWriter } from '../../src/commit/extend-list.ts'
import { listVersions, versionsWithout } from '../../src/commit/record-versions.ts'
import type { CommittedPartition, FileEntry, VersionFile } from '../../src/core/partition.ts'
import { Engine, type Session } from '../../src/lake/duckdb/engine.ts'
import { inLake, loadPath, partPath } from '../../src/lake/files/layout.ts'
import { mainTables, type RecordTable } from '../../src/lake/tables/tables.ts'
import { HIDDEN_SCHEMA, makeSuperseded, supersededTable } from '../../src/lake/views/current-versions.ts'
import { hashFile } from '../../src/support/hash.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** `FIRMLAKE_ROUNDS=20` looks longer. */
const ROUNDS = Number(process.env.FIRMLAKE_ROUNDS ?? 1)
const RUN = '20260101T000000000Z-000000'
let engine: Engine
let session: Session

beforeAll(async () => {
  engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  session = await engine.connect()
})
afterAll(() => engine.close())

/** Ids of one partition: companies that it loads, or companies that a listing lacked. */
interface Loaded {
  readonly kind: 'companies' | 'listings'
  readonly ids: readonly number[]
}

/** A partition whose file has ids alone. */
const partitionOf = async (
  lake: string,
  version: number,
  { kind, ids }: Loaded,
): Promise<CommittedPartition> => {
  const path = `${loadPath(kind, RUN)}/${version}.parquet`
  await mkdir(dirname(inLake(lake, path)), { recursive: true })
  await session.copy(`SELECT unnest([${ids.join(', ')}]::BIGINT[]) AS internal_id`, inLake(lake, path), {
    kind: 'parquet',
  })
  const file: FileEntry = { table: kind, path, rows: ids.length, ...(await hashFile(inLake(lake, path))) }
  return {
    ...{ id: String(version), run: RUN, content: 'companies', drift: [], version },
    source: {
      ...{ kind: 'stdin', name: 'a', bytes: 0, sha256: '', block: 0, firstLine: 1, offset: 0, last: true },
    },
    range: { field: 'ContentUpdatedAt', requested: null, observed: null },
    counts: { lines: ids.length, records: ids.length, quarantined: 0, rows: { [kind]: ids.length } },
    ...{ files: [file], committed: { snapshot: 1, time: '' } },
  }
}

/** What the lists say, row by row. */
const contentsOf = async (lake: string, versions: readonly VersionFile[], kind: VersionFile['kind']) => {
  const files = versions.filter((one) => one.kind === kind)
  if (files.length === 0) return []
  const paths = files.map(({ name }) => `'${inLake(lake, partPath(name))}'`)
  const rows = await session.rows(
    `SELECT * FROM read_parquet([${paths.join(', ')}]) ORDER BY internal_id::BIGINT, version`,
  )
  return rows.map((row) =>
    Object.values(row).map((value) => (typeof value === 'boolean' ? value : Number(value))),
  )
}

const byIdAndVersion = (a: readonly unknown[], b: readonly unknown[]): number =>
  Number(a[0]) - Number(b[0]) || Number(a[1]) - Number(b[1])

/** The same worked out from all ids: what follows each version, and what is hidden. */
const expectedOf = (loads: readonly (readonly [version: number, Loaded])[]) => {
  const chains = Map.groupBy(
    loads.flatMap(([version, { kind, ids }]) =>
      ids.map((id) => ({ id, version, isListing: kind === 'listings' })),
    ),
    ({ id }) => id,
  )
  const [superseded, last, hidden]: unknown[][][] = [[], [], []] as never
  for (const [id, chain] of chains) {
    for (const [at, { version }] of chain.entries()) {
      const next = chain[at + 1]
      if (next) superseded?.push([id, version, next.version, next.isListing])
      else last?.push([id, version])
    }
    const rows = chain.filter(({ isListing }) => !isListing)
    for (const { version } of rows) {
      const isLast = version === rows.at(-1)?.version
      if (version < (chain.at(-1)?.version ?? 0)) hidden?.push([id, version, isLast])
    }
  }
  for (const rows of [superseded, last, hidden]) rows?.sort(byIdAndVersion)
  return { superseded, last, hidden }
}

const companies = mainTables().find(({ name }) => name === 'companies') as RecordTable

const hiddenBy = async (
  lake: string,
  versions: readonly VersionFile[],
  loads: readonly (readonly [number, Loaded])[],
) => {
  await session.run(`CREATE OR REPLACE SCHEMA ${HIDDEN_SCHEMA}`)
  await session.run(makeSuperseded({ partitions: [], files: [], versions }, lake, companies))
  const rows = await session.rows(`FROM ${supersededTable('companies')} ORDER BY owner, version`)
  await session.run(`DROP SCHEMA ${HIDDEN_SCHEMA} CASCADE`)
  // Versions of listings are of no row.
  const ofRows = new Set(loads.flatMap(([version, { kind }]) => (kind === 'companies' ? [version] : [])))
  return rows
    .map(({ owner, version, is_gone }) => [Number(owner), Number(version), is_gone])
    .filter(([, version]) => ofRows.has(Number(version)))
    .sort(byIdAndVersion)
}

const LOADED = fc.record({
  kind: fc.constantFrom('companies', 'companies', 'companies', 'listings') as fc.Arbitrary<Loaded['kind']>,
  ids: fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 8 }),
})

test.each([
  ['in one file', undefined],
  ['in many files', { mostRows: 5, smallRows: 2 }],
])('the lists of commit after commit are what all ids say, %s', async (_, sizes) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(LOADED, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 5 }),
      async (commits) => {
        const lake = await temporaryFolder()
        const context = { lake, session, sizes }
        const writer = new PartWriter({ lake, run: RUN }, randomBytes)
        const loads: [number, Loaded][] = []
        let versions: readonly VersionFile[] = []
        for (const commit of commits) {
          const partitions: CommittedPartition[] = []
          for (const loaded of commit) {
            const version = loads.length * 2 + 1
            loads.push([version, loaded])
            partitions.push(await partitionOf(lake, version, loaded))
          }
          versions = await listVersions(context)({ before: { versions }, partitions, files: [], writer })
          const expected = expectedOf(loads)
          expect(await contentsOf(lake, versions, 'superseded')).toEqual(expected.superseded)
          const last = await contentsOf(lake, versions, 'last')
          // Of an id that stands in several files the greatest version counts.
          const greatest = new Map(last.map(([id, version]) => [id, version]))
          expect([...greatest]).toEqual(expected.last)
          expect(await hiddenBy(lake, versions, loads)).toEqual(expected.hidden)
        }
        const left = await versionsWithout(context, [1n, 2n, 3n], {
          ...{ before: { versions }, files: [], writer },
        })
        const isLeft = ([id]: readonly unknown[]): boolean => Number(id) > 3
        expect(await contentsOf(lake, left, 'superseded')).toEqual(
          expectedOf(loads).superseded?.filter(isLeft),
        )
        const all = await Promise.all(loads.map(([version, loaded]) => partitionOf(lake, version, loaded)))
        const anew = await listVersions(context)({ before: null, partitions: all, files: [], writer })
        expect(await contentsOf(lake, anew, 'superseded')).toEqual(expectedOf(loads).superseded)
      },
    ),
    { numRuns: 3 * ROUNDS },
  )
})
