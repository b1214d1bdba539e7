/** A serving index that somebody else has made: what its database files hold is never run. */

import { cp, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LIST_FILE, readFileList, writeFileList } from '../../../src/manifest/form/file-list.ts'
import { openIndex } from '../../../src/server/serving-index/open-index.ts'
import { sha256Of } from '../../../src/support/hash.ts'
import { changeDatabase, hasTrace, viewInPlace } from '../../lake/duckdb/spiked-database.ts'
import { type LoadedLake, Workbench } from '../../load/loaded-lake.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { loadServed, type MadeIndex, MEMORY_BYTES, madeIndex, sampleLines } from './served-lake.ts'

let bench: Workbench
let loaded: LoadedLake
let made: MadeIndex
beforeAll(async () => {
  bench = await Workbench.open()
  loaded = await loadServed(bench, { content: 'companies', lines: await sampleLines('companies', 3) })
  made = await madeIndex(loaded)
})
afterAll(async () => {
  await made.index.close()
  await bench.close()
})

test.each(['company', 'posting'])('a view in place of table "%s" makes it unusable', async (table) => {
  const folder = join(await temporaryFolder(), 'index')
  await cp(made.folder, folder, { recursive: true })
  const trace = join(folder, 'trace.json')
  const listed = await readFileList(folder)
  if (listed.kind !== 'list') throw new TypeError(listed.kind)
  const search = listed.files.find(({ name }) => name.endsWith('.duckdb'))?.name ?? ''
  await changeDatabase(join(folder, search), ...viewInPlace({ table, trace }))
  const changed = listed.files.map(async (file) => {
    const path = join(folder, file.name)
    return { ...file, bytes: (await stat(path)).size, sha256: sha256Of(await readFile(path)) }
  })
  await rm(join(folder, LIST_FILE))
  await writeFileList(folder, await Promise.all(changed))
  await expect(openIndex({ folder, memoryBytes: MEMORY_BYTES })).rejects.toMatchObject({
    code: 'INDEX_UNUSABLE',
    cause: { message: `Cannot read the database file: it holds view "${table}", expected tables alone` },
  })
  expect(hasTrace(trace)).toBe(false)
})
