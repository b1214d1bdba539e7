import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Engine } from '../../../src/lake/duckdb/engine.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const MEBIBYTE = 1024 ** 2

test.skipIf(process.platform !== 'linux')(
  'what a sort leaves of memory goes back to the system',
  async () => {
    const folder = await temporaryFolder()
    const engine = await Engine.open({ memoryBytes: 300 * MEBIBYTE, spillFolder: join(folder, 'spill') })
    try {
      const session = await engine.connect()
      await session.run(
        'CREATE TEMP TABLE sorted AS SELECT hash(range) AS h, range::VARCHAR AS text FROM range(2_000_000) ORDER BY h',
      )
      await session.run('DROP TABLE sorted')
      const left = process.memoryUsage().rss
      await session.releaseMemory()
      expect(left - process.memoryUsage().rss).toBeGreaterThan(60 * MEBIBYTE)
      const [setting] = await session.rows("SELECT current_setting('memory_limit') AS bytes")
      expect(setting).toEqual({ bytes: '300.0 MiB' })
    } finally {
      engine.close()
    }
  },
)

test('what was read of files on this machine takes no memory', async () => {
  const file = join(await temporaryFolder(), 'numbers.parquet')
  const engine = await Engine.open({ memoryBytes: 300 * MEBIBYTE })
  try {
    const session = await engine.connect()
    await session.run(`COPY (SELECT hash(range) AS h FROM range(1_000_000)) TO '${file}'`)
    await session.run(`SELECT bit_xor(h) FROM '${file}'`)
    const [kept] = await session.rows(
      "SELECT memory_usage_bytes AS bytes FROM duckdb_memory() WHERE tag = 'EXTERNAL_FILE_CACHE'",
    )
    expect(kept).toEqual({ bytes: '0' })
  } finally {
    engine.close()
  }
})

test('statements share what the ends of Parquet files say', async () => {
  const engine = await Engine.open({ memoryBytes: 300 * MEBIBYTE })
  try {
    const session = await engine.connect()
    expect(await session.rows("SELECT current_setting('parquet_metadata_cache') AS is_shared")).toEqual([
      { is_shared: true },
    ])
  } finally {
    engine.close()
  }
})
