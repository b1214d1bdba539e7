import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { newSpillFolder, withDatabases } from '../../../src/lake/duckdb/database-files.ts'
import { Engine, type Session } from '../../../src/lake/duckdb/engine.ts'
import { temporaryName, thisProcess } from '../../../src/support/process-identity.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

test('newSpillFolder gives each caller of a process a folder of its own', async () => {
  const temporary = await temporaryFolder()
  const [one, other] = [await newSpillFolder(temporary), await newSpillFolder(temporary)]
  one.remove()
  expect([existsSync(one.path), existsSync(other.path)]).toEqual([false, true])
})

test('the last one to remove its folder leaves nothing', async () => {
  const temporary = await temporaryFolder()
  const [one, other] = [await newSpillFolder(temporary), await newSpillFolder(temporary)]
  one.remove()
  other.remove()
  expect(readdirSync(temporary)).toEqual([])
})

test('newSpillFolder removes what a killed process left, and nothing else', async () => {
  const temporary = await temporaryFolder()
  const alive = await newSpillFolder(temporary)
  const dead = join(dirname(alive.path), temporaryName({ ...thisProcess(), pid: 2 ** 30 }))
  mkdirSync(dead)
  writeFileSync(join(dead, 'duckdb_temp_storage-0.tmp'), 'x')
  const next = await newSpillFolder(temporary)
  const left = readdirSync(dirname(alive.path)).map((name) => join(dirname(alive.path), name))
  expect(left.sort()).toEqual([alive.path, next.path].sort())
})

test('newSpillFolder does without a folder whose name somebody else has taken', async () => {
  const temporary = await temporaryFolder()
  const { path } = await newSpillFolder(temporary)
  const other = join(temporary, 'other')
  mkdirSync(other)
  writeFileSync(join(other, dirname(path).slice(temporary.length + 1)), '')
  expect(dirname((await newSpillFolder(other)).path)).toBe(other)
  expect(dirname((await newSpillFolder(join(temporary, 'missing'))).path)).toBe(join(temporary, 'missing'))
})

test('nobody else reads what DuckDB puts aside, whatever the umask', async () => {
  const temporary = await temporaryFolder()
  const umask = process.umask(0)
  try {
    const { path } = await newSpillFolder(temporary)
    const taken = join(temporary, 'taken')
    mkdirSync(taken)
    writeFileSync(join(taken, dirname(path).slice(temporary.length + 1)), '')
    const beside = await newSpillFolder(taken)
    const engine = await Engine.open({ memoryBytes: 1024 ** 2, spillFolder: join(temporary, 'spill') })
    engine.close()
    const folders = [dirname(path), path, beside.path, join(temporary, 'spill')]
    expect(folders.map((one) => statSync(one).mode & 0o777)).toEqual([0o700, 0o700, 0o700, 0o700])
  } finally {
    process.umask(umask)
  }
})

test('each of two databases that are asked for at once is written whole, also on one that is there', async () => {
  const folder = await temporaryFolder()
  const tableOf = (rows: number) => async (session: Session) => {
    for (let at = 0; at < 20; at += 1) await session.run(`CREATE TABLE t${at} AS FROM range(${rows})`)
  }
  const files = await withDatabases(async (make) => {
    const before = await make({ fill: tableOf(1) })
    const more = async (session: Session) => {
      for (let at = 0; at < 20; at += 1) await session.run(`INSERT INTO t${at} FROM range(5)`)
    }
    return Promise.all([
      make({ before, fill: more }),
      make({ fill: tableOf(3) }),
      make({ before, fill: more }),
    ])
  })
  const engine = await Engine.open({ memoryBytes: 128 * 1024 ** 2 })
  try {
    const session = await engine.connect()
    const counts: string[] = []
    for (const [at, bytes] of files.entries()) {
      const path = join(folder, `${at}.duckdb`)
      writeFileSync(path, bytes)
      await session.run(`ATTACH '${path}' AS db${at} (READ_ONLY)`)
      const [row] = await session.rows(`SELECT count(*)::INTEGER AS n FROM db${at}.t19`)
      counts.push(String(row?.n))
    }
    expect(counts).toEqual(['6', '3', '6'])
  } finally {
    engine.close()
  }
})
