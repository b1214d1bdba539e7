import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRowCounter, type RowCounter } from '../../src/jobs/verify.ts'
import { LAKE_ID_PATH } from '../../src/lake/files/layout.ts'
import { verifyLake } from '../../src/manifest/verify/verify-lake.ts'
import { cli } from '../cli/run-cli.ts'
import { cutTo, filesOf, flipBit, remove, seededRandom, whileDamaged } from '../manifest/damage.ts'
import { runIn } from '../run/batch-bench.ts'
import { SEED } from '../support/seed.ts'
import { type Batches, writeBatches } from './batches.ts'

let batches: Batches
let lake = ''
let counter: RowCounter

/** A lake of two commits: several partitions of companies and relations, bad lines, dictionaries, records. */
beforeAll(async () => {
  batches = await writeBatches({ companies: 60, files: 2 })
  lake = join(batches.folder, '.lake')
  const options = { limits: { blockBytes: 100_000 }, maxQuarantined: { kind: 'share', share: 0.5 } } as const
  await runIn(batches.folder, lake, batches.paths.slice(0, 3), options)
  await runIn(batches.folder, lake, batches.paths, options)
  counter = await openRowCounter()
})
afterAll(async () => {
  counter.close()
  await batches.remove()
})

/** The files that verify finds something of. That the lake's id is not there is a note: earlier lakes have none. */
const problemPaths = async (): Promise<string[]> => {
  const { problems, notes } = await verifyLake({ lake, countRows: counter.countRows })
  const noted = notes.some((note) => note.includes(LAKE_ID_PATH)) ? [LAKE_ID_PATH] : []
  return [...problems.map(({ path }) => path), ...noted]
}

test('verify finds nothing in a lake that is whole, and every kind of file is in it', async () => {
  const files = await filesOf(lake)
  const kinds = new Set(
    files.map((path) => path.replace(/(load=[^/]+|parts)\/.*\./, '').replace(/\d{8}/, '')),
  )
  expect([...kinds].sort()).toEqual([
    '_manifest/.json',
    '_manifest/.sha256',
    '_manifest/jsonl',
    '_manifest/lake-id.json',
    '_manifest/parquet',
    'companies/parquet',
    'employees/parquet',
    'financials/parquet',
    'lake.duckdb',
    'lake.duckdb.sha256',
    'lake.ducklake',
    'lake.ducklake.sha256',
    'line_items/parquet',
    'ownerships/parquet',
    'quarantine/jsonl',
    'relation_entities/parquet',
    'relations/parquet',
    'roles/parquet',
  ])
  expect(await problemPaths()).toEqual([])
})

const DAMAGES = {
  'a flipped bit': (path: string, bytes: number, random: () => number) =>
    flipBit(path, Math.floor(random() * bytes), Math.floor(random() * 8)),
  'a flipped bit in the last byte': (path: string, bytes: number) => flipBit(path, bytes - 1, 0),
  'a cut by one byte': (path: string, bytes: number) => cutTo(path, bytes - 1),
  'a cut anywhere': (path: string, bytes: number, random: () => number) =>
    cutTo(path, Math.floor(random() * bytes)),
  'a missing file': (path: string) => remove(path),
} as const

test.each(Object.entries(DAMAGES))(
  'verify finds %s, whichever file it is in, and names it',
  async (_, damage) => {
    const random = seededRandom(SEED)
    for (const file of await filesOf(lake)) {
      const path = join(lake, file)
      await whileDamaged(
        path,
        (bytes) => damage(path, bytes, random),
        async () => expect(await problemPaths(), `${file}, seed ${SEED}`).toContain(file),
      )
    }
    expect(await problemPaths()).toEqual([])
  },
)

test('firmlake verify ends with 1 and names the file', async () => {
  const [file = ''] = (await filesOf(lake)).filter((path) => path.startsWith('financials/'))
  const path = join(lake, file)
  const { size } = await stat(path)
  await whileDamaged(
    path,
    () => flipBit(path, Math.floor(size / 2), 3),
    async () => {
      const { code, stdout } = await cli(['verify', '--lake', lake])
      expect(code).toBe(1)
      expect(stdout).toContain(file)
    },
  )
  expect((await cli(['verify', '--lake', lake])).code).toBe(0)
})
