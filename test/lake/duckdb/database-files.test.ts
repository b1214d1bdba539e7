import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { newSpillFolder } from '../../../src/lake/duckdb/database-files.ts'
import { Engine } from '../../../src/lake/duckdb/engine.ts'
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
