/** Loads a large run into a database file and says when the loading has begun; is killed meanwhile. */

import { readdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import { duckdbFile } from '../../src/sink/duckdb-file.ts'

const [file = '', staging = ''] = process.argv.slice(2)
const bytesOf = (): number =>
  readdirSync(dirname(file)).reduce((sum, name) => sum + statSync(`${dirname(file)}/${name}`).size, 0)

const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
const session = await engine.connect()
const sink = await duckdbFile(file, { staging }).open('run-2')
const { files } = await sink.write(
  'p-0',
  'employees',
  session.relation(`SELECT i // 4 AS internal_id, 'SE' AS country_code, 'Consolidated' AS consolidation,
    (2020 + i % 4)::SMALLINT AS fiscal_year, random() AS employees FROM range(1000000) AS t (i)`),
)
const before = bytesOf()
const watch = setInterval(() => {
  if (bytesOf() <= before) return
  clearInterval(watch)
  process.stdout.write('loading\n')
}, 5)
await sink.commit(files)
process.stdout.write('loaded\n')
