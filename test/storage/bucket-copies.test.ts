import { rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { copiesOf } from '../../src/storage/bucket-copies.ts'
import { sha256Of } from '../../src/support/hash.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { memoryStore } from './memory-store.ts'

test('fetch makes a copy although its folder is removed meanwhile, as gc removes empty ones', async () => {
  const folder = join(await temporaryFolder(), 'copies')
  const path = 'companies/load=1/p.parquet'
  const copy = join(folder, path)
  const store = memoryStore('bucket', new Map())
  await store.put(path, Buffer.from('rows'))
  let removed = 0
  const removing: typeof store.get = (one, options) => {
    removed += 1
    if (removed === 1) rmSync(dirname(copy), { recursive: true })
    return store.get(one, options)
  }
  const file = { path, bytes: 4, sha256: sha256Of('rows') }
  await copiesOf({ ...store, get: removing }, folder).fetch([file])
  expect([await readFile(copy, 'utf8'), removed]).toEqual(['rows', 2])
})
