/**
 * Command: `node bench/copy.ts [--companies 20000] [--out DIR]`. A lake copied from folder to folder, into a bucket and back, each
 * also a second time: MB/s, CPU, peak memory and requests. Needs the S3 server of `.ci/install-tools`.
 */

import { readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { writeSample } from '../data/sample.ts'
import { query } from '../src/index.ts'
import { TABLES } from '../src/lake/tables/tables.ts'
import { openCountingProxy } from '../test/support/counting-proxy.ts'
import { openS3Server, s3Environment } from '../test/support/s3-server.ts'
import { measureNode } from './measure.ts'

const { values } = parseArgs({
  options: {
    companies: { type: 'string', default: '20000' },
    out: { type: 'string', default: join(tmpdir(), 'firmlake-bench') },
  },
})

const home = join(values.out, 'copy')
const MAIN = join(import.meta.dirname, '../src/cli/main.ts')
await rm(home, { recursive: true, force: true })
const sample = { companies: Number(values.companies), seed: 7, files: 6, small: false, awkward: 0.05 }
await writeSample(join(home, 'data'), { ...sample, content: ['companies', 'relations'] }, 1)

await using server = await openS3Server()
await using proxy = await openCountingProxy(server.endpoint)
await server.makeBucket('lakes')
const { accessKey, secretKey } = server
Object.assign(
  process.env,
  s3Environment({ endpoint: proxy.endpoint, accessKey, secretKey }, join(home, 'work')),
)
// Of `undefined` it has made texts.
for (const [name, value] of Object.entries(process.env)) if (value === 'undefined') delete process.env[name]

const sizeOf = async (folder: string): Promise<{ readonly files: number; readonly bytes: number }> => {
  const found = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = found
    .filter((entry) => entry.name.endsWith('.parquet'))
    .map((entry) => join(entry.parentPath, entry.name))
  let bytes = 0
  for (const path of paths) bytes += (await stat(path)).size
  return { files: paths.length, bytes }
}

const run = (...args: readonly string[]) => measureNode([MAIN, ...args])

const [lake, folder, bucket, back] = [
  join(home, 'lake'),
  join(home, 'folder'),
  's3://lakes/lake',
  join(home, 'back'),
]
await run('convert', join(home, 'data'), '--lake', lake)
const { files, bytes } = await sizeOf(lake)
console.log(`${values.companies} companies, ${files} files, ${(bytes / 1e6).toFixed(1)} MB`)
for (const [from, to, name] of [
  [lake, folder, 'folder to folder'],
  [lake, bucket, 'folder to bucket'],
  [bucket, back, 'bucket to folder'],
] as const)
  for (const what of [name, `${name}, again`]) {
    proxy.take()
    const { wallSeconds, cpuSeconds, peakMegabytes } = await run('copy', from, to)
    const { requests } = proxy.take()
    console.log(
      `${what}: ${(bytes / 1e6 / wallSeconds).toFixed(0)} MB/s, wall ${wallSeconds.toFixed(2)} s, CPU ${cpuSeconds.toFixed(2)} s, ` +
        `peak ${peakMegabytes.toFixed(0)} MB, ${requests.length} requests`,
    )
  }
const rowsOf = async (place: string): Promise<string> => {
  const hashes = TABLES.map(
    ({ name }) => `(SELECT (count(*), sum(hash(t))) FROM ${name}_history AS t) AS ${name}`,
  )
  return JSON.stringify(
    await query({ lake: place, sql: `SELECT ${hashes.join(', ')}` }),
    (_key, one: unknown) => (typeof one === 'bigint' ? String(one) : one),
  )
}
const rows = await rowsOf(lake)
for (const copy of [folder, bucket, back]) {
  await run('verify', '--lake', copy)
  if ((await rowsOf(copy)) !== rows) throw new Error(`"${copy}" has other rows than the lake`)
}
console.log(`rows and verify are equal: ${rows}`)
await rm(home, { recursive: true, force: true })
