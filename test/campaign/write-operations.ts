/** What the campaign of failing writes disturbs: small pieces of work, the lake each begins with, and what it leaves. */

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ToolkitError } from '../../src/core/errors.ts'
import type { Snapshot } from '../../src/core/partition.ts'
import { compact } from '../../src/jobs/compact.ts'
import { convert as convertFrom } from '../../src/jobs/convert.ts'
import { copyLake } from '../../src/jobs/copy.ts'
import { discard } from '../../src/jobs/discard.ts'
import { forget } from '../../src/jobs/forget.ts'
import { release } from '../../src/jobs/release.ts'
import { addLakeRates } from '../../src/lake/rates/lake-rates.ts'
import { removeGarbage } from '../../src/manifest/gc/remove-garbage.ts'
import { readHeld } from '../../src/manifest/snapshots/held.ts'
import { readAllListed } from '../../src/manifest/snapshots/snapshot-root.ts'
import { newestSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import { publishedTables } from '../../src/publish/table-files.ts'
import {
  batchFilePath,
  batchSnapshots,
  indexMark,
  readIndex,
} from '../../src/server/batch-files/batch-index.ts'
import { makeBatchFiles } from '../../src/server/batch-files/make-batch-files.ts'
import { indexFolder } from '../../src/server/serving-index/build/build-index.ts'
import { currentIndex } from '../../src/server/serving-index/build/current-index.ts'
import { INDEX_TABLES } from '../../src/server/serving-index/index-form.ts'
import { openIndex } from '../../src/server/serving-index/open-index.ts'
import { hashFile } from '../../src/support/hash.ts'
import { statPath } from '../../src/support/list-files.ts'
import { deadRun } from '../manifest/small-lake.ts'
import { logNames, publishDelta, readCommit } from '../publish/sample-lake.ts'
import { hashLake, queryLake, runIn, sha256 } from '../run/batch-bench.ts'
import { lengthEmbedder, MEMORY_BYTES, placesOf } from '../server/serving-index/served-lake.ts'

/** The folder of the batch files and their paths. */
export interface Inputs {
  readonly folder: string
  readonly paths: readonly string[]
}

export interface WriteOperation {
  /** Makes the lake that it begins with. */
  readonly base: (lake: string, inputs: Inputs) => Promise<void>
  readonly run: (lake: string, inputs: Inputs) => Promise<unknown>
  /** What a reader sees of it, in parts that each change as a whole. */
  readonly state: (lake: string) => Promise<readonly string[]>
  /** A slower look, where the same may be written in other bytes. */
  readonly rows?: (lake: string) => Promise<string>
}

const LIMIT = { kind: 'share', share: 0.5 } as const
/** Small enough that a file is several partitions. */
const BLOCK_BYTES = 40_000
const TARGET_BYTES = 16_384

const convert = async (lake: string, { folder }: Inputs, paths: readonly string[], again = false) => {
  const limits = { blockBytes: BLOCK_BYTES }
  return (await runIn(folder, lake, paths, { limits, maxQuarantined: LIMIT, again })).summary
}

const recordsIn = ({ partitions, files: ofRuns }: Pick<Snapshot, 'partitions' | 'files'>): string => {
  const files = [...partitions.flatMap((partition) => partition.files), ...ofRuns]
  return JSON.stringify(
    files.map(({ table, rows, bytes, sha256: hash }) => [table, rows, bytes, hash]).sort(),
  )
}

/** The records by the bytes of their files, whatever the run is called. */
const recordsOf = async (lake: string): Promise<readonly string[]> => {
  const newest = await newestSnapshot(lake).catch(() => null)
  return [newest === null ? 'none' : recordsIn(newest)]
}

/** The rows that queries give: the same rows may stand in files of other bytes. */
const rowsOf = async (lake: string): Promise<string> => JSON.stringify(await hashLake(lake))

const oneRun = async (lake: string, inputs: Inputs): Promise<void> => {
  await convert(lake, inputs, inputs.paths.slice(0, 2))
}
const twoRuns = async (lake: string, inputs: Inputs): Promise<void> => {
  await oneRun(lake, inputs)
  await convert(lake, inputs, inputs.paths.slice(0, 1), true)
}

/** Finds something in whatever is loaded. */
const HELD_BY = {
  rules: { all: 'SELECT internal_id FROM companies UNION ALL SELECT internal_id FROM relations' },
} as const

/** What a person sees who asks what became of it. */
const unless =
  (code: string) =>
  (error: unknown): void => {
    if (!(error instanceof ToolkitError) || error.code !== code) throw error
  }

const hold = async (lake: string, { paths }: Inputs): Promise<void> => {
  const from = paths.slice(2)
  await convertFrom({ from, lake, maxQuarantined: '50%', check: HELD_BY }).catch(unless('LOAD_HELD'))
}

/** The records that are shown, and those that would be. */
const heldOf = async (lake: string): Promise<readonly string[]> => {
  const held = await readHeld(lake)
  return [
    ...(await recordsOf(lake)),
    held === null ? 'nothing is held back' : recordsIn(await readAllListed(lake, held.root)),
  ]
}

const everyThird = async (lake: string, inputs: Inputs): Promise<void> => {
  const ids = await queryLake(lake, 'SELECT internal_id FROM companies ORDER BY ALL')
  await writeFile(forgottenFile(inputs), ids.filter((_, at) => at % 3 === 0).join())
}

const forgetThem = async (lake: string, inputs: Inputs): Promise<unknown> => {
  const ids = (await readFile(forgottenFile(inputs), 'utf8')).split(',')
  return forget({ lake, companies: ids.map(BigInt) })
}

const makeAllBatches = async (lake: string): Promise<void> => {
  const index = await currentIndex({ lake, memoryBytes: MEMORY_BYTES, embedder: lengthEmbedder })
  try {
    await makeBatchFiles({ lake, index })
  } finally {
    await index.close()
  }
}

const batchesOf = async (lake: string): Promise<readonly string[]> => {
  const parts: string[] = []
  for (const snapshot of await batchSnapshots(lake)) {
    if ((await indexMark(lake, snapshot)) === null) continue
    const { files } = await readIndex(lake, snapshot)
    for (const { FileName, sha256: expected } of files) {
      const { sha256: found } = await hashFile(batchFilePath(lake, snapshot, FileName))
      parts.push(`${FileName} ${found === expected ? found : 'is damaged'}`)
    }
  }
  return [parts.join() || 'none']
}

const serve = async (lake: string): Promise<void> => {
  await (await currentIndex({ lake, memoryBytes: MEMORY_BYTES, embedder: lengthEmbedder })).close()
}

/** What two indexes answer from: of the snapshot before, and of the newest one, which shares segments with it. */
const indexesOf = (lake: string): Promise<readonly string[]> =>
  Promise.all(
    [1, 2].map(async (snapshot) => {
      const folder = indexFolder(lake, snapshot)
      if ((await statPath(folder)) === null) return 'none'
      const index = await openIndex({ folder, memoryBytes: MEMORY_BYTES })
      const hashes = Object.keys(INDEX_TABLES).map(
        (table) => `(SELECT count(*) || ' ' || bit_xor(hash(t)) FROM serving.${table} AS t) AS ${table}`,
      )
      try {
        return await index.query(
          async (session) => {
            const [tables] = await session.rows(`SELECT ${hashes.join(', ')}`)
            const rows = await session.rows('SELECT * FROM serving.company ORDER BY internal_id')
            const documents = await index.documents('companies', placesOf(rows))
            return JSON.stringify([index.description.segments, tables, sha256(Buffer.concat(documents))])
          },
          { timeoutMs: 60_000 },
        )
      } finally {
        await index.close()
      }
    }),
  )

/** The files that each table's log shows. */
const publishedOf = async (lake: string): Promise<readonly string[]> => {
  const tables: string[] = []
  for (const { name } of publishedTables()) {
    const names = await logNames(lake, name).catch(() => [])
    const versions = names.filter((one) => /^\d{20}\.json$/.test(one)).length
    const live = new Set<string>()
    for (let version = 0; version < versions; version += 1)
      for (const { add, remove } of await readCommit(lake, name, version)) {
        if (add) live.add(String(add.path))
        if (remove) live.delete(String(remove.path))
      }
    tables.push(`${versions} ${[...live].map((path) => path.replace(/load(=|%3D)[^/]+/, 'load')).sort()}`)
  }
  return tables
}

/** Whom a lake is to forget: every third company, by a file beside the inputs, since they are gone from the lake then. */
const forgottenFile = ({ folder }: Inputs): string => join(folder, '.forgotten')

/** The lake that a copy is of: it stands beside the inputs, and nobody disturbs it. */
const copied = ({ folder }: Inputs): string => join(folder, '.copied')

const RATES = 'currency,year,units_per_usd\nSEK,2024,10.5\nNOK,2024,10.7\n'

const OPERATIONS = {
  'convert into a new lake': {
    base: () => Promise.resolve(),
    run: (lake, inputs) => convert(lake, inputs, inputs.paths.slice(0, 2)),
    state: recordsOf,
    rows: rowsOf,
  },
  convert: {
    base: oneRun,
    run: (lake, inputs) => convert(lake, inputs, inputs.paths.slice(2)),
    state: recordsOf,
    rows: rowsOf,
  },
  compact: {
    base: twoRuns,
    run: (lake) => compact({ lake, targetBytes: TARGET_BYTES }),
    state: recordsOf,
    rows: rowsOf,
  },
  'batches make': { base: oneRun, run: makeAllBatches, state: batchesOf },
  'serving index': {
    base: async (lake, inputs) => {
      await oneRun(lake, inputs)
      await serve(lake)
      await convert(lake, inputs, inputs.paths.slice(2))
    },
    run: serve,
    state: indexesOf,
  },
  'publish delta': {
    base: async (lake, inputs) => {
      await oneRun(lake, inputs)
      await publishDelta(lake)
      await convert(lake, inputs, inputs.paths.slice(0, 1), true)
    },
    run: (lake) => publishDelta(lake),
    state: publishedOf,
  },
  copy: {
    base: async (lake, inputs) => {
      await oneRun(copied(inputs), inputs)
      await copyLake({ lake: copied(inputs), to: lake })
      await convert(copied(inputs), inputs, inputs.paths.slice(2))
    },
    run: (lake, inputs) => copyLake({ lake: copied(inputs), to: lake }),
    state: recordsOf,
    rows: rowsOf,
  },
  forget: {
    base: async (lake, inputs) => {
      await twoRuns(lake, inputs)
      await publishDelta(lake)
      await everyThird(lake, inputs)
    },
    run: forgetThem,
    state: recordsOf,
    rows: rowsOf,
  },
  'forget beside a held load': {
    base: async (lake, inputs) => {
      await oneRun(lake, inputs)
      await hold(lake, inputs)
      await everyThird(lake, inputs)
    },
    run: forgetThem,
    state: heldOf,
    rows: rowsOf,
  },
  'rates load': {
    base: oneRun,
    run: (lake) => addLakeRates(lake, RATES),
    state: async (lake) => [await readFile(join(lake, '_rates', 'rates.csv')).then(sha256, () => 'none')],
  },
  hold: { base: oneRun, run: hold, state: heldOf, rows: rowsOf },
  release: {
    base: async (lake, inputs) => {
      await oneRun(lake, inputs)
      await hold(lake, inputs)
    },
    run: (lake) => release({ lake }).catch(unless('NOTHING_HELD')),
    state: heldOf,
    rows: rowsOf,
  },
  discard: {
    base: async (lake, inputs) => {
      await oneRun(lake, inputs)
      await hold(lake, inputs)
    },
    run: (lake) => discard({ lake }).catch(unless('NOTHING_HELD')),
    state: heldOf,
    rows: rowsOf,
  },
  gc: {
    base: async (lake, inputs) => {
      await twoRuns(lake, inputs)
      await compact({ lake, targetBytes: TARGET_BYTES })
      await deadRun(lake, ['a', 'b'])
    },
    run: (lake) => removeGarbage({ lake, now: new Date(), keep: 1 }),
    state: recordsOf,
    rows: rowsOf,
  },
} as const satisfies Readonly<Record<string, WriteOperation>>

export type WriteOperationName = keyof typeof OPERATIONS
export const isWriteOperation = (name: string): name is WriteOperationName => name in OPERATIONS
export const WRITE_OPERATIONS: Readonly<Record<WriteOperationName, WriteOperation>> = OPERATIONS
