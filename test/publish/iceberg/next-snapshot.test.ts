import { join } from 'node:path'
import { expect, test } from 'vitest'
import { TABLES } from '../../../src/lake/tables/tables.ts'
import { dataFiles } from '../../../src/publish/iceberg/data-files.ts'
import { readLiveFiles, readLiveManifests } from '../../../src/publish/iceberg/live-files.ts'
import { writeNextSnapshot } from '../../../src/publish/iceberg/next-snapshot.ts'
import { historyLayout } from '../../../src/publish/iceberg/table-layout.ts'
import {
  applyChange,
  currentSnapshot,
  type TableMetadata,
} from '../../../src/publish/iceberg/table-metadata.ts'
import type { TableFile } from '../../../src/publish/table-files.ts'
import { storageOf } from '../../../src/storage/open-storage.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { readManifests } from './iceberg-lake.ts'

const fileOf = (version: number): TableFile => {
  const [run, name] = [`run-${version}`, `load=run-${version}/p.parquet`]
  const path = `line_items/${name}`
  return {
    ...{ table: 'line_items', path, name, run, version, rows: version + 1, bytes: 10, sha256: '' },
    committed: { snapshot: version + 1, time: '2026-01-01T00:00:00.000Z' },
  }
}

test('writeNextSnapshot puts manifests together once there are a hundred, and loses no file', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  const storage = storageOf(lake)
  const table = TABLES.find(({ name }) => name === 'line_items')
  if (table === undefined) throw new Error('There is no such table')
  const layout = historyLayout(table)
  const measure = async (files: readonly TableFile[]) =>
    files.map((file) => ({ file, statistics: new Map() }))
  const described = { storage, layout, measure }
  let metadata: TableMetadata | null = null
  let manifests: Awaited<ReturnType<typeof readLiveManifests>> = []
  for (let snapshot = 1; snapshot <= 102; snapshot += 1) {
    const next = await writeNextSnapshot({
      storage,
      layout,
      base: metadata,
      manifests,
      data: { added: dataFiles(described, [fileOf(snapshot - 1)]), removed: [] },
      of: { snapshot, run: `run-${snapshot}`, time: '2026-11-21T09:45:00.000Z' },
      oldest: 1,
    })
    metadata = applyChange(layout, metadata, next.change, {
      uuid: 'u',
      location: `${storage.uri}/line_items`,
    })
    manifests = next.manifests
  }
  if (metadata === null) throw new Error('There is no table')
  const written = await readManifests(currentSnapshot(metadata))
  expect(written.map((one) => [one.added_files_count, one.existing_files_count])).toEqual([
    [1, 0],
    [0, 100],
    [1, 0],
  ])
  expect(written[1]).toMatchObject({ sequence_number: 101, min_sequence_number: 1, deleted_files_count: 0 })
  expect(await readLiveManifests(storage, 'line_items', metadata)).toEqual(manifests)
  const read = await readLiveFiles(storage, 'line_items', manifests)
  expect([...read.values()].map(({ entry }) => entry.sequence_number).sort(byNumber)).toEqual(
    Array.from({ length: 102 }, (_, at) => at + 1),
  )
  expect(currentSnapshot(metadata)?.summary).toMatchObject({
    'total-data-files': '102',
    'total-records': String((102 * 103) / 2),
  })
})

const byNumber = (a: number, b: number): number => a - b
