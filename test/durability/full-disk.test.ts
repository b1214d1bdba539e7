import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import { jsonLines } from '../../src/sink/json-lines.ts'
import { parquetLake } from '../../src/sink/parquet-lake.ts'
import { cli, errorCode } from '../cli/run-cli.ts'
import { hashLake, verify } from '../run/batch-bench.ts'
import { leaveRoom, smallDisk } from '../support/small-disk.ts'
import { type Batches, writeBatches } from './batches.ts'

const KIB = 1024
const DISK_BYTES = 24 * KIB * KIB

/** Room that is left for the run, from none to about enough; plain `npm test` takes a few of them. */
const ROOMS_KIB = [0, 8, 16, 32, 64, 96, 128, 150, 175, 198, 200, 202, 204, 206, 208, 250, 450]
const MAY_SUFFICE_KIB = 200
const rooms = process.env.CI === 'true' ? ROOMS_KIB : [0, 16, 150, 450]

let batches: Batches
let [first, second] = ['', '']
/** A lake of the first file, and the hashes of that and of a lake of both. */
let base = ''
let hashes: { readonly one: object; readonly both: object }

const convert = (lake: string, ...paths: string[]): ReturnType<typeof cli> =>
  cli(['convert', ...paths, '--lake', lake, '--max-quarantined', '50%', '--json'])

beforeAll(async () => {
  batches = await writeBatches({ companies: 600, files: 2 })
  ;[first = '', second = ''] = batches.paths
  base = join(batches.folder, '.base')
  const both = join(batches.folder, '.both')
  expect((await convert(base, first)).code).toBe(0)
  await cp(base, both, { recursive: true })
  expect((await convert(both, second)).code).toBe(0)
  hashes = { one: await hashLake(base), both: await hashLake(both) }
})
afterAll(() => batches.remove())

test.for(rooms)(
  'convert onto a disk with %i KiB of room ends with DISK_FULL, harms nothing, and completes once there is more',
  async (kib, context) => {
    const disk = await smallDisk(context, DISK_BYTES)
    const lake = join(disk, 'lake')
    await cp(base, lake, { recursive: true })
    const filler = await leaveRoom(disk, kib * KIB)
    const result = await convert(lake, second)
    if (result.code === 0) {
      expect(kib).toBeGreaterThanOrEqual(MAY_SUFFICE_KIB)
      expect(await hashLake(lake)).toEqual(hashes.both)
      return
    }
    expect([result.code, errorCode(result)]).toEqual([1, 'DISK_FULL'])
    // Without its second record a snapshot stands all the same.
    const isCommitted = result.stderr.includes('_manifest/00000002.sha256')
    expect(await hashLake(lake)).toEqual(isCommitted ? hashes.both : hashes.one)
    expect((await verify(lake)).problems).toEqual([])
    await rm(filler)
    expect(await convert(lake, second)).toMatchObject({ code: 0 })
    expect(await hashLake(lake)).toEqual(hashes.both)
    expect(await verify(lake)).toMatchObject({ problems: [], notes: [] })
  },
)

const SINKS = {
  parquetLake: (directory: string) => parquetLake({ lake: directory }),
  jsonLines: (directory: string) => jsonLines(directory),
}

test.for(Object.entries(SINKS))(
  'write of %s onto a full disk fails with DISK_FULL, and goes on with room',
  async ([, sinkOf], context) => {
    const disk = await smallDisk(context, DISK_BYTES)
    const filler = await leaveRoom(disk, 64 * KIB)
    const engine = await Engine.open({ memoryBytes: 256 * KIB * KIB })
    try {
      const session = await engine.connect()
      const rows = session.relation('SELECT range AS id, md5(range::VARCHAR) AS text FROM range(50_000)')
      const sink = await sinkOf(join(disk, 'target')).open('20261121T094500123Z-1f9a2c')
      await expect(sink.write('p-0', 'companies', rows)).rejects.toMatchObject({ code: 'DISK_FULL' })
      await rm(filler)
      const { files } = await sink.write('p-0', 'companies', rows)
      await sink.commit(files)
      expect(files).toMatchObject([{ rows: 50_000 }])
    } finally {
      engine.close()
    }
  },
)
