import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PartWriter } from '../../src/commit/extend-list.ts'
import { listVersions, versionsWithout } from '../../src/commit/record-versions.ts'
import type { CommittedPartition, FileEntry, SourceEntry, VersionFile } from '../../src/core/partition.ts'
import { Engine, type Session } from '../../src/lake/duckdb/engine.ts'
import { inLake, loadPath, partPath } from '../../src/lake/files/layout.ts'
import { mainTables, type RecordTable } from '../../src/lake/tables/tables.ts'
import { chainMacro } from '../../src/lake/views/base-views.ts'
import { HIDDEN_SCHEMA, makeSuperseded, supersededTable } from '../../src/lake/views/current-versions.ts'
import { chainOfLists, loadsOf } from '../../src/lake/views/source-macros.ts'
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

/** Ids of one partition: companies that it loads, or companies that a listing lacked; each id with its day. */
interface Loaded {
  readonly kind: 'companies' | 'listings'
  /** The days of the sources that share it, and their ids. */
  readonly sources: readonly { readonly day: number; readonly ids: readonly number[] }[]
}

const instantOf = (day: number): string => new Date(Date.UTC(2026, 0, day)).toISOString()
const committedAt = (commit: number): string => new Date(Date.UTC(2027, 0, 10 + commit)).toISOString()
const SOURCE: SourceEntry = {
  ...{ kind: 'file', name: 'a', bytes: 0, sha256: '', block: 0, firstLine: 1, offset: 0, last: true },
}

/** A partition whose file has ids alone. */
const partitionOf = async (
  lake: string,
  version: number,
  { kind, sources }: Loaded,
  commit = 0,
): Promise<CommittedPartition> => {
  const path = `${loadPath(kind, RUN)}/${version}.parquet`
  const ids = sources.flatMap((one) => one.ids)
  await mkdir(dirname(inLake(lake, path)), { recursive: true })
  await session.copy(`SELECT unnest([${ids.join(', ')}]::BIGINT[]) AS internal_id`, inLake(lake, path), {
    kind: 'parquet',
  })
  const file: FileEntry = { table: kind, path, rows: ids.length, ...(await hashFile(inLake(lake, path))) }
  const counted = (count: number) => ({ lines: count, records: count, quarantined: 0 })
  return {
    ...{ id: String(version), run: RUN, content: 'companies', drift: [], version, source: SOURCE },
    asOf: instantOf(Math.max(...sources.map(({ day }) => day))),
    ...(sources.length > 1 && {
      sources: sources.map((one) => ({
        ...SOURCE,
        ...{ counts: counted(one.ids.length), asOf: instantOf(one.day) },
      })),
    }),
    range: { field: 'ContentUpdatedAt', requested: null, observed: null },
    counts: { ...counted(ids.length), rows: { [kind]: ids.length } },
    ...{ files: [file], committed: { snapshot: commit + 1, time: committedAt(commit) } },
  }
}

/** What the lists say, row by row. */
const contentsOf = async (lake: string, versions: readonly VersionFile[], kind: VersionFile['kind']) => {
  const files = versions.filter((one) => one.kind === kind)
  if (files.length === 0) return []
  const paths = files.map(({ name }) => `'${inLake(lake, partPath(name))}'`)
  return session.rows(
    `SELECT * REPLACE (internal_id::INTEGER AS internal_id, version::INTEGER AS version, substr(as_of::VARCHAR, 9, 2)::INTEGER AS as_of) FROM read_parquet([${paths.join(', ')}]) ORDER BY internal_id, version`,
  )
}

interface Version {
  readonly id: number
  readonly version: number
  readonly day: number
  readonly isListing: boolean
  readonly commit: number
}

/** All versions of each id in their order: by day, then as they were committed. */
const chainsOf = (commits: readonly (readonly (readonly [number, Loaded])[])[]) => {
  const all = commits.flatMap((loads, commit) =>
    loads.flatMap(([version, { kind, sources }]) =>
      sources.flatMap(({ day, ids }) =>
        ids.map((id): Version => ({ id, version, day, isListing: kind === 'listings', commit })),
      ),
    ),
  )
  const chains = Map.groupBy(all, ({ id }) => id)
  for (const chain of chains.values()) chain.sort((a, b) => a.day - b.day || a.version - b.version)
  return chains
}

const byIdAndVersion = (a: readonly unknown[], b: readonly unknown[]): number =>
  Number(a[0]) - Number(b[0]) || Number(a[1]) - Number(b[1])

/** Rows of companies that are not shown, and whether that is because the company is gone. */
const hiddenIn = (chains: ReturnType<typeof chainsOf>) =>
  [...chains.values()]
    .flatMap((chain) => {
      const rows = chain.filter(({ isListing }) => !isListing)
      const isGone = chain.at(-1)?.isListing
      return rows.flatMap(({ id, version }) =>
        version === chain.at(-1)?.version ? [] : [[id, version, isGone && version === rows.at(-1)?.version]],
      )
    })
    .sort(byIdAndVersion)

/** Compares lists with all versions. */
const expectLists = async (
  lake: string,
  versions: readonly VersionFile[],
  chains: ReturnType<typeof chainsOf>,
): Promise<void> => {
  // Of an id that stands in several files the last one in the order counts.
  const last = new Map<number, unknown>()
  for (const { internal_id, version, as_of, is_listing } of (
    await contentsOf(lake, versions, 'last')
  ).toSorted((a, b) => Number(a.as_of) - Number(b.as_of) || Number(a.version) - Number(b.version)))
    last.set(Number(internal_id), [version, as_of, is_listing])
  const lasts = [...chains].map(([id, chain]) => [id, chain.at(-1)] as const)
  expect(new Map([...last].sort(([a], [b]) => a - b))).toEqual(
    new Map(
      lasts.sort(([a], [b]) => a - b).map(([id, one]) => [id, [one?.version, one?.day, one?.isListing]]),
    ),
  )
  const superseded = await contentsOf(lake, versions, 'superseded')
  const expected = [...chains.values()].flatMap((chain) => chain.slice(0, -1))
  expect(superseded.map((row) => [row.internal_id, row.version])).toEqual(
    expected.map(({ id, version }) => [id, version]).sort(byIdAndVersion),
  )
  for (const { internal_id, version, as_of, is_listing, next, is_gone } of superseded) {
    const chain = chains.get(Number(internal_id)) ?? []
    const own = chain.find((one) => one.version === version)
    const behind = chain.slice(chain.findIndex((one) => one.version === version) + 1)
    const other = behind.find((one) => one.version === Number(next))
    expect([as_of, is_listing, is_gone]).toEqual([own?.day, own?.isListing, other?.isListing])
    // It was never current where one behind it was committed before or with it.
    const first = Math.min(...behind.map(({ commit }) => commit))
    expect([Math.max(other?.commit ?? 0, own?.commit ?? 0), version]).toEqual([
      Math.max(first, own?.commit ?? 0),
      version,
    ])
  }
}

const companies = mainTables().find(({ name }) => name === 'companies') as RecordTable

const hiddenBy = async (
  lake: string,
  versions: readonly VersionFile[],
  chains: ReturnType<typeof chainsOf>,
) => {
  await session.run(`CREATE OR REPLACE SCHEMA ${HIDDEN_SCHEMA}`)
  await session.run(makeSuperseded({ partitions: [], files: [], versions }, lake, companies))
  const rows = await session.rows(`FROM ${supersededTable('companies')} ORDER BY owner, version`)
  await session.run(`DROP SCHEMA ${HIDDEN_SCHEMA} CASCADE`)
  // Versions of listings are of no row.
  const all = [...chains.values()].flat()
  const ofRows = new Set(all.flatMap(({ version, isListing }) => (isListing ? [] : [version])))
  return rows
    .map(({ owner, version, is_gone }) => [Number(owner), Number(version), is_gone])
    .filter(([, version]) => ofRows.has(Number(version)))
    .sort(byIdAndVersion)
}

/** What the chain says of each version, as days. */
const chainIn = async (
  lake: string,
  versions: readonly VersionFile[],
  partitions: readonly CommittedPartition[],
) => {
  const listed = { partitions, files: [], versions }
  await session.run(`CREATE OR REPLACE SCHEMA ${HIDDEN_SCHEMA}`)
  await session.run(loadsOf(companies, listed))
  await session.run(chainOfLists(companies, listed, lake))
  const day = (name: string): string => `substr(${name}::VARCHAR, 9, 2)::INTEGER AS ${name}`
  const rows =
    await session.rows(`SELECT owner::INTEGER AS id, version::INTEGER AS version, ${day('as_of')}, until::INTEGER AS until,
  ${['until_as_of', 'shown_from', 'shown_until', 'known_since'].map(day).join(', ')}
FROM ${chainMacro(companies)}() ORDER BY id, as_of, version`)
  await session.run(`DROP SCHEMA ${HIDDEN_SCHEMA} CASCADE`)
  return rows
}

/** The same from all versions. Of plain loads there is no chain. */
const linksOf = (chains: ReturnType<typeof chainsOf>) =>
  [...chains.keys()]
    .sort((a, b) => a - b)
    .flatMap((id) => {
      const chain = chains.get(id) ?? []
      const first = (some: readonly Version[]): number | null =>
        some.length === 0 ? null : 10 + Math.min(...some.map(({ commit }) => commit))
      return chain.map((own, at) => ({
        ...{ id, version: own.version, as_of: own.day },
        until: chain[at + 1]?.version ?? null,
        until_as_of: chain[at + 1]?.day ?? null,
        shown_from: first(chain.slice(at)),
        shown_until: first(chain.slice(at + 1)),
        known_since: 10 + Math.max(own.commit, chain[at - 1]?.commit ?? 0),
      }))
    })

const LOADED = fc.record({
  kind: fc.constantFrom('companies', 'companies', 'companies', 'listings') as fc.Arbitrary<Loaded['kind']>,
  sources: fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 8 }).chain((ids) =>
    fc
      .tuple(fc.nat(ids.length - 1), fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 6 }))
      .map(([cut, day, other]) =>
        cut === 0
          ? [{ day, ids }]
          : [
              { day, ids: ids.slice(0, cut) },
              { day: other, ids: ids.slice(cut) },
            ],
      ),
  ),
})

/** A listing supersedes a company that is left as it was; it is merged with an older record of the same, and both stand in for theirs. */
const OLDER_BEHIND_LISTING: [Loaded[][], [number, number]] = [
  [
    [{ kind: 'companies', sources: [{ day: 5, ids: [1, 2] }] }],
    [{ kind: 'listings', sources: [{ day: 6, ids: [1] }] }],
    [{ kind: 'companies', sources: [{ day: 3, ids: [1] }] }],
  ],
  [1, 2],
]

test.each([
  ['in one file', undefined],
  ['in many files', { mostRows: 5, smallRows: 2 }],
])('the lists of commit after commit are what all versions say, %s', async (_, sizes) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(LOADED, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 5 }),
      fc.tuple(fc.nat(4), fc.nat(4)),
      async (commits, places) => {
        const lake = await temporaryFolder()
        const context = { lake, session, sizes }
        const writer = new PartWriter({ lake, run: RUN }, randomBytes)
        const loads: [number, Loaded][][] = []
        let versions: readonly VersionFile[] = []
        let number = 1
        const all: CommittedPartition[] = []
        for (const [at, commit] of commits.entries()) {
          const partitions: CommittedPartition[] = []
          const own: [number, Loaded][] = []
          for (const loaded of commit) {
            own.push([number, loaded])
            partitions.push(await partitionOf(lake, number, loaded, at))
            number += 1
          }
          number += 4
          loads.push(own)
          versions = await listVersions(context)({ before: { versions }, partitions, files: [], writer })
          const chains = chainsOf(loads)
          await expectLists(lake, versions, chains)
          expect(await hiddenBy(lake, versions, chains)).toEqual(hiddenIn(chains))
          all.push(...partitions)
          const links = await chainIn(lake, versions, all)
          const isPlain = [...chains.values()].every((chain) => chain.length === 1)
          if (!isPlain || links.length > 0) expect(links).toEqual(linksOf(chains))
        }
        const left = await versionsWithout(context, [1n, 2n, 3n], {
          ...{ before: { versions }, files: [], writer },
        })
        const some = [...chainsOf(loads)].filter(([id]) => id > 3)
        await expectLists(lake, left, new Map(some))
        // A merge of neighbouring commits: of each record its last version, and the last listing of those that are gone.
        const [from = 0, to = 0] = places.map((place) => place % commits.length).sort()
        const [merged, kept] = [loads.slice(from, to + 1), loads.slice(0, from).flat().length]
        const numbers = merged.flat().map(([version]) => version)
        const [first, behind] = [Math.min(...numbers), Math.max(...numbers) + 1]
        const made = [...chainsOf(merged).values()].flatMap((chain) => {
          const isGone = chain.at(-1)?.isListing
          const record = chain.findLast(({ isListing }) => !isListing)
          return [record ?? [], isGone ? (chain.at(-1) ?? []) : []].flat()
        })
        const compacted = await Promise.all(
          (['companies', 'listings'] as const).flatMap((kind, at) => {
            const rows = made.filter(({ isListing }) => isListing === (kind === 'listings'))
            const sources = rows.map(({ id, day }) => ({ day, ids: [id] }))
            return rows.length === 0 ? [] : [partitionOf(lake, behind + at, { kind, sources })]
          }),
        )
        const anew = await listVersions(context)({
          ...{ before: { versions }, compacted, files: [], writer },
          partitions: [...all.slice(0, kept), ...compacted, ...all.slice(kept + numbers.length)],
        })
        const standIns = made.map(({ id, day, isListing }) => ({
          ...{ id, day, isListing, commit: to },
          version:
            compacted.find(({ files }) => (files[0]?.table === 'listings') === isListing)?.version ?? 0,
        }))
        const others = [...chainsOf(loads).values()]
          .flat()
          .filter(({ version }) => !numbers.includes(version))
        const chains = Map.groupBy([...standIns, ...others], ({ id }) => id)
        for (const chain of chains.values()) chain.sort((a, b) => a.day - b.day || a.version - b.version)
        await expectLists(lake, anew, chains)
        expect(await hiddenBy(lake, anew, chains)).toEqual(hiddenIn(chains))
        // Files that name none of the merged versions are the same.
        const isMerged = (version: unknown): boolean => Number(version) >= first && Number(version) < behind
        for (const file of versions) {
          const names = await contentsOf(lake, [file], file.kind)
          const isSame = !names.some(({ version, next }) => isMerged(version) || isMerged(next ?? 0))
          expect([file, anew.includes(file)]).toEqual([file, isSame])
        }
      },
    ),
    { numRuns: 3 * ROUNDS, examples: [OLDER_BEHIND_LISTING] },
  )
})

test('a mark that a later listing confirmed holds against older records, not where the company had come back', async () => {
  const lake = await temporaryFolder()
  const writer = new PartWriter({ lake, run: RUN }, randomBytes)
  // A list of eight rows is not merged with one of a single row: the mark of company 1 stays in it when the company is back.
  const list = listVersions({ lake, session, sizes: { mostRows: 1000, smallRows: 0 } })
  const ids = [1, 2, 3, 4, 5, 6, 7, 8]
  const commits: readonly Loaded[] = [
    { kind: 'companies', sources: [{ day: 1, ids }] },
    { kind: 'listings', sources: [{ day: 2, ids }] },
    { kind: 'companies', sources: [{ day: 3, ids: [1] }] },
    { kind: 'companies', sources: [{ day: 5, ids: [1, 2] }] },
  ]
  const confirmed = `SELECT unnest([1, 2])::BIGINT AS internal_id, 2 AS version, TIMESTAMPTZ '${instantOf(6)}' AS as_of`
  let versions: readonly VersionFile[] = []
  for (const [at, loaded] of commits.entries()) {
    const partitions = [await partitionOf(lake, at + 1, loaded)]
    const behind = (): string => `SELECT *, true AS is_listing FROM (${confirmed})`
    const more = at === 3 ? { confirmed: behind } : {}
    versions = await list({ before: { versions }, partitions, files: [], writer, ...more })
    if (at === 2) expect(versions.filter(({ kind }) => kind === 'last')).toHaveLength(2)
  }
  const hidden = (await contentsOf(lake, versions, 'superseded')).map(({ internal_id, version, is_gone }) => [
    internal_id,
    version,
    is_gone,
  ])
  expect(hidden).toContainEqual([2, 4, true])
  expect(hidden.filter(([id, version]) => id === 1 && version === 4)).toEqual([])
  // What is confirmed stays through a merge, and goes with a company that is forgotten.
  const confirmedBy = async (lists: readonly VersionFile[]) =>
    (await contentsOf(lake, lists, 'confirmed')).map(({ internal_id, version, as_of }) => [
      ...[internal_id, version, as_of],
    ])
  const both = [
    [1, 2, 6],
    [2, 2, 6],
  ]
  expect(await confirmedBy(versions)).toEqual(both)
  const compacted = [await partitionOf(lake, 5, { kind: 'companies', sources: [{ day: 5, ids }] })]
  const merged = await list({ before: { versions }, compacted, partitions: compacted, files: [], writer })
  expect(await confirmedBy(merged)).toEqual(both)
  const left = await versionsWithout({ lake, session }, [1n], {
    ...{ before: { versions }, files: [], writer },
  })
  expect(await confirmedBy(left)).toEqual([both[1]])
})
