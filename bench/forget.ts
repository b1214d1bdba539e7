/**
 * Command: `node bench/forget.ts [--companies 20000] [--out DIR]`. One company, then one person, forgotten by a lake of two
 * runs, and again after a compaction: CPU against that of loading it, and what was written again.
 */

import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { writeSample } from '../data/sample.ts'
import { query } from '../src/index.ts'
import { measureNode } from './measure.ts'

const { values } = parseArgs({
  options: {
    companies: { type: 'string', default: '20000' },
    out: { type: 'string', default: join(tmpdir(), 'firmlake-bench') },
  },
})

const home = join(values.out, 'forget')
const lake = join(home, 'lake')
const MAIN = join(import.meta.dirname, '../src/cli/main.ts')
await rm(home, { recursive: true, force: true })
const sample = { companies: Number(values.companies), seed: 7, files: 6, small: false, awkward: 0.05 }
await writeSample(join(home, 'data'), { ...sample, content: ['companies', 'relations'] }, 1)

let loadedSeconds = 0
const run = async (what: string, ...args: readonly string[]): Promise<void> => {
  const { wallSeconds, cpuSeconds, peakMegabytes } = await measureNode([MAIN, ...args, '--lake', lake])
  if (args[0] === 'convert') loadedSeconds = cpuSeconds
  const share = (cpuSeconds / loadedSeconds).toFixed(2)
  console.log(
    `${what}: CPU ${cpuSeconds.toFixed(2)} s (${share} of loading), wall ${wallSeconds.toFixed(2)} s, peak ${peakMegabytes.toFixed(0)} MB`,
  )
}
const idOf = async (sql: string): Promise<string> => {
  const [row] = await query({ lake, sql })
  return String(row?.id)
}
const COMPANY = 'SELECT internal_id AS id FROM companies ORDER BY hash(internal_id) LIMIT 1'
const PERSON =
  'SELECT entity_id AS id FROM relation_entities WHERE NOT is_company GROUP BY ALL ORDER BY count(*) DESC, id LIMIT 1'

await run('load', 'convert', join(home, 'data'))
await run('forget a company', 'forget', '--company', await idOf(COMPANY))
await run('forget a person', 'forget', '--person', await idOf(PERSON))
await run('compact', 'compact')
await run('forget a company, compact', 'forget', '--company', await idOf(COMPANY))
await run('forget a person, compact', 'forget', '--person', await idOf(PERSON))
await rm(home, { recursive: true, force: true })
