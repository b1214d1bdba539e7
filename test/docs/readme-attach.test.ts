/** The statements of README.md, with which any DuckDB attaches a lake. */

import { join } from 'node:path'
import { expect, type TestContext, test } from 'vitest'
import { convert } from '../../src/jobs/convert.ts'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import { literal } from '../../src/lake/duckdb/sql.ts'
import { duckLakeFile, missingDuckLake } from '../support/ducklake.ts'
import { needs } from '../support/needs.ts'
import { examplesIn, PROJECT } from '../support/page.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('DuckDB attaches the lake by the statements of README.md, and answers what it shows', async (context: TestContext) => {
  needs(context, "DuckDB's extension ducklake", missingDuckLake())
  const lake = join(await temporaryFolder(), 'lake')
  for (const delivery of ['sample', 'sample-second'])
    await convert({ from: [join(PROJECT, 'data', delivery)], lake })
  const [example = ''] = examplesIn('README.md', 'sql')
  const [, attach = '', question = '', answer] = /^(ATTACH .*);\n(SELECT .*); -- (\d+)\n$/.exec(example) ?? []
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  try {
    const session = await engine.connect()
    await session.run(`LOAD ${literal(duckLakeFile())}`)
    await session.run(attach.replace('ducklake:lake/', `ducklake:${lake}/`))
    const [row] = await session.rows(question)
    expect(Object.values(row ?? {}).map(String)).toEqual([answer])
  } finally {
    engine.close()
  }
})
