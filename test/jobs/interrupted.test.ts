/** A signal ends every job with one of our errors, whatever the work under it throws. */

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { compact } from '../../src/jobs/compact.ts'
import { convert } from '../../src/jobs/convert.ts'
import { gc } from '../../src/jobs/gc.ts'
import { query } from '../../src/jobs/query.ts'
import { records } from '../../src/jobs/records.ts'
import { serve } from '../../src/jobs/serve.ts'
import { verify } from '../../src/jobs/verify.ts'
import { deliver } from '../../src/targets/deliver.ts'
import { exportTables } from '../../src/targets/export/export-tables.ts'
import { publish } from '../../src/targets/publish.ts'
import { companyLine, openBench } from '../run/batch-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('every job that is stopped ends with INTERRUPTED, and the lake is as it was', async () => {
  const { folder, lake, write, run, verify: verified } = openBench(await temporaryFolder())
  await write('a.jsonl', [companyLine(1)])
  await write('b.jsonl', [companyLine(2)])
  await run(['a.jsonl'])
  await run(['b.jsonl'])
  const signal = AbortSignal.abort()
  const jobs = {
    convert: () => convert({ from: join(folder, 'a.jsonl'), lake, again: true, signal }),
    compact: () => compact({ lake, signal }),
    publish: () => publish({ lake, formats: ['delta'], signal }),
    deliver: () => deliver({ lake, sinks: [`csv:${join(folder, 'out')}`], signal }),
    exportTables: () => exportTables({ lake, to: `csv:${join(folder, 'files')}`, signal }),
    query: () => query({ lake, sql: 'SELECT count(*) FROM range(10_000_000_000)', signal }),
    records: () => records({ lake, signal }).next(),
    verify: () => verify({ lake, signal }),
    gc: () => gc({ lake, keep: 1, signal }),
    serve: () => serve({ lake, port: 0, signal }),
  }
  for (const [name, job] of Object.entries(jobs))
    expect(await job().catch((error: unknown) => error), name).toMatchObject({
      name: 'ToolkitError',
      code: 'INTERRUPTED',
    })
  expect((await verified()).problems).toEqual([])
})
