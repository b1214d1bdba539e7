/**
 * A source that is loaded again as of another instant than before: the one before was a mistake. Its versions get the instant of
 * now; what they had superseded by mistake becomes current again as rows of this run, because a version that is superseded once
 * stays so for everybody who follows the lake commit by commit.
 */

import { randomBytes } from 'node:crypto'
import type { Content } from '../contract/objects.ts'
import type { FileEntry, PartitionEntry, SharedSource } from '../core/partition.ts'
import { ident, pathsSql, readParquet } from '../lake/duckdb/sql.ts'
import { fetchFiles } from '../lake/files/fetch-tables.ts'
import { inLake } from '../lake/files/layout.ts'
import { LISTINGS, mainTables, type RecordTable, type Table, tablesOf } from '../lake/tables/tables.ts'
import { filesOf, readTable, versionFacts } from '../lake/views/current-versions.ts'
import { lastVersionWith } from '../lake/views/version-order.ts'
import { knownByBytes, namedSources, togetherAs } from '../manifest/form/sources.ts'
import { readAllListed, type SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import { SourceIndex } from '../manifest/snapshots/source-index.ts'
import { sha256Of } from '../support/hash.ts'
import { type CommitRule, withWritten } from './commit-rule.ts'
import { listingEntry } from './listing-entry.ts'
import { type DatedPartition, type MovedVersion, movedAsOf } from './source-instants.ts'
import { CHECK, type StagedRun } from './staged-files.ts'

interface InstantOfSource {
  readonly key: string
  readonly asOf: string
}

const instantsIn = (partition: DatedPartition): readonly InstantOfSource[] =>
  namedSources(partition).map(([name], at) => ({
    key: `${partition.content} ${name}`,
    asOf: partition.sources?.[at]?.asOf ?? partition.asOf,
  }))

/** The versions of the lake that came from the bytes of these partitions, and were as of another instant. */
const movedVersions = async (
  lake: string,
  root: SnapshotRoot | null,
  partitions: readonly DatedPartition[],
): Promise<readonly MovedVersion[]> => {
  const own = partitions.filter(({ source }) => knownByBytes(source))
  const instants = new Map(own.flatMap(instantsIn).map(({ key, asOf }) => [key, asOf]))
  const hashes = new Set(own.flatMap(namedSources).map(([, { sha256 }]) => sha256))
  const held = await new SourceIndex(lake, root).partitionsOf(hashes)
  return held.flatMap((one) => {
    const { version, content } = one
    // Several small sources of one instant have to be loaded again together.
    const byInstant = Map.groupBy(instantsIn(one), ({ asOf }) => asOf)
    return [...byInstant].flatMap(([from, sources]) => {
      const now = new Set(sources.map(({ key }) => instants.get(key)))
      const [to] = now
      return to === undefined || now.size > 1 || to === from ? [] : [{ version, content, from, to }]
    })
  })
}

/** Versions that become current again: `owner`, `version`, `as_of`, `is_listing`. */
const backSql = (
  main: RecordTable,
  root: SnapshotRoot,
  lake: string,
  moved: readonly MovedVersion[],
): string => {
  const rows = (files: SnapshotRoot['versions']): string => {
    const paths = pathsSql(versionFacts(files).map(({ path }) => inLake(lake, path)))
    return `SELECT ${ident(main.owner ?? '')} AS owner, version, as_of, is_listing FROM ${readParquet(paths, 'union_by_name = true')}`
  }
  const lists = root.versions.filter(({ table }) => table === main.name)
  const isMoved = `${movedAsOf(moved)} <> as_of`
  return `WITH last AS (
  SELECT owner, unnest(last) FROM (SELECT owner, ${lastVersionWith('is_listing')} AS last
    FROM (${rows(lists.filter(({ kind }) => kind === 'last'))}) GROUP BY owner)
), mistaken AS (SELECT owner, ${movedAsOf(moved)} AS now FROM last WHERE ${isMoved}),
others AS (
  SELECT owner, unnest(other) FROM (SELECT owner, ${lastVersionWith('is_listing')} AS other
    FROM (${rows(lists)}) SEMI JOIN mistaken USING (owner) WHERE NOT (${isMoved}) GROUP BY owner)
) SELECT o.owner, o.version, o.as_of, o.is_listing FROM others AS o JOIN mistaken AS m USING (owner) WHERE o.as_of > m.now`
}

interface Back {
  readonly asOf: string
  readonly isListing: boolean
  readonly records: number
}

const againSource = (content: Content, asOf: string): Omit<SharedSource, 'counts' | 'asOf'> => ({
  ...{ kind: 'again', name: `${content} of ${asOf}`, bytes: 0, sha256: sha256Of(`${content} ${asOf}`) },
  ...{ block: 0, firstLine: 1, offset: 0, last: true },
})

const entryOf = (
  { run, id, content }: Pick<PartitionEntry, 'run' | 'id' | 'content'>,
  back: readonly Back[],
  files: readonly FileEntry[],
): PartitionEntry => {
  const sources = back.map(({ asOf, records }) => ({
    ...againSource(content, asOf),
    ...{ counts: { lines: records, records, quarantined: 0 }, asOf },
  }))
  const records = back.reduce((sum, one) => sum + one.records, 0)
  const rows = new Map<string, number>()
  for (const file of files) rows.set(file.table, (rows.get(file.table) ?? 0) + file.rows)
  const [only] = sources
  return {
    ...{ id, run, content, files, drift: [] },
    ...(sources.length > 1 || only === undefined
      ? { source: togetherAs(sources), sources }
      : { source: againSource(content, only.asOf), asOf: only.asOf }),
    range: {
      field: content === 'companies' ? 'ContentUpdatedAt' : 'UpdatedAt',
      requested: null,
      observed: null,
    },
    counts: { lines: records, records, quarantined: 0, rows: Object.fromEntries(rows) },
  }
}

/** Writes the rows of a content that become current again. @returns partitions whose files are in place */
const writeContent = async (
  { lake, run, loader, sink }: StagedRun,
  root: SnapshotRoot,
  main: RecordTable,
  moved: readonly MovedVersion[],
): Promise<readonly PartitionEntry[]> => {
  const { content } = main
  const back = backSql(main, root, lake, moved)
  await fetchFiles(lake, versionFacts(root.versions.filter(({ table }) => table === main.name)), CHECK)
  const found = await loader.rows(`SELECT DISTINCT version::INTEGER AS version FROM (${back})`)
  if (found.length === 0) return []
  const counted = await loader.rows(
    `SELECT epoch_ms(as_of)::VARCHAR AS ms, is_listing, count(*)::INTEGER AS records FROM (${back}) GROUP BY as_of, is_listing ORDER BY as_of`,
  )
  const backs = counted.map(
    ({ ms, is_listing, records }): Back => ({
      asOf: new Date(Number(ms)).toISOString(),
      isListing: is_listing === true,
      records: Number(records),
    }),
  )
  const versions = new Set(found.map(({ version }) => Number(version)))
  const all = await readAllListed(lake, root, ({ contents }) => contents?.includes(content) ?? false)
  const partitions = all.partitions.filter(({ version }) => versions.has(version))
  await fetchFiles(
    lake,
    partitions.flatMap(({ files }) => files),
    CHECK,
  )
  const id = `again-${content}-${randomBytes(8).toString('hex')}`
  const write = async (table: Table, name: string): Promise<readonly FileEntry[]> => {
    const files = filesOf({ partitions, files: [] }, lake, table.name)
    if (files.length === 0) return []
    const rows = `SELECT r.* EXCLUDE (version) FROM (${readTable(table, files, 'with-version')}) AS r
JOIN (${back}) AS b ON b.owner = r.${ident(table.owner ?? '')} AND b.version = r.version
WHERE b.is_listing = ${table.name === LISTINGS.name} ORDER BY b.as_of, ${table.key.map((key) => `r.${ident(key)}`).join(', ')}`
    return (await loader.withRows(rows, (own) => sink.write(name, table.name, own))).files
  }
  const written: PartitionEntry[] = []
  const records = backs.filter(({ isListing }) => !isListing)
  if (records.length > 0) {
    const files: FileEntry[] = []
    for (const table of tablesOf(content)) files.push(...(await write(table, id)))
    written.push(entryOf({ run, id, content }, records, files))
  }
  for (const { asOf } of backs.filter(({ isListing }) => isListing).slice(-1)) {
    const files = await write(LISTINGS, `${id}-listings`)
    written.push({ ...listingEntry(run, 'again', asOf, files), id: `${id}-listings` })
  }
  return written
}

/** The versions that came from the same bytes as of another instant, and what they had superseded by mistake. */
export const loadedAgain = (run: StagedRun): CommitRule => ({
  add: async (next) => {
    const { root } = next
    const moved = await movedVersions(run.lake, root, next.partitions)
    if (root === null || moved.length === 0) return next
    const written: PartitionEntry[] = []
    for (const main of mainTables()) {
      const own = moved.filter(({ content }) => content === main.content)
      if (own.length > 0) written.push(...(await writeContent(run, root, main, own)))
    }
    return { ...(await withWritten(run, next, written)), moved }
  },
})
