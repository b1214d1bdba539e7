/**
 * Command: `node bench/in-place.ts [--companies 68000] [--out DIR]`. What commands fetch of a lake in a bucket, counted at a
 * proxy: as it was loaded and compacted, in place and as copies. Needs the S3 server and httpfs of `.ci/install-tools`.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { writeSample } from '../data/sample.ts'
import { openCountingProxy } from '../test/support/counting-proxy.ts'
import { HTTPFS } from '../test/support/httpfs.ts'
import { openS3Server, s3Environment } from '../test/support/s3-server.ts'

const { values } = parseArgs({
  options: {
    companies: { type: 'string', default: '68000' },
    out: { type: 'string', default: join(tmpdir(), 'firmlake-bench') },
  },
})

const home = join(values.out, 'in-place')
const MAIN = join(import.meta.dirname, '../src/cli/main.ts')
const LAKE = ['--lake', 's3://lakes/lake']
const COUNT = ['query', 'SELECT count(DISTINCT internal_id) FROM companies']

await rm(home, { recursive: true, force: true })
const companies = Number(values.companies)
const sample = { companies, seed: 7, files: 6, small: false, awkward: 0.05 }
await writeSample(join(home, 'data'), { ...sample, content: ['companies', 'relations'] }, 1)

await using server = await openS3Server()
await using proxy = await openCountingProxy(server.endpoint)
await server.makeBucket('lakes')
const { accessKey, secretKey } = server
const settings = s3Environment({ endpoint: proxy.endpoint, accessKey, secretKey }, join(home, 'work'))
const env: NodeJS.ProcessEnv = { ...process.env, ...settings, FIRMLAKE_HTTPFS: HTTPFS }

/** Runs a command to its end and counts. @returns what it printed */
const run = async (...args: readonly string[]): Promise<string> => {
  proxy.take()
  const child = spawn(process.execPath, [MAIN, ...args, ...LAKE], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`firmlake ${args.join(' ')} ended with ${code}`)
  const { requests, bytes } = proxy.take()
  console.log(`${args.join(' ')}: ${requests.length} requests, ${(bytes / 1e6).toFixed(3)} MB`)
  return printed
}

const ask = async (): Promise<void> => {
  await run('query')
  await run('query', 'DESCRIBE companies')
  await run(...COUNT)
  const ids = await run('query', '--format', 'csv', 'SELECT internal_id FROM relations ORDER BY 1 LIMIT 100')
  const id = ids.trim().split('\n').at(-1) ?? ''
  await run('records', '--id', id, '--content', 'companies')
  await run('records', '--id', id)
}

await run('convert', join(home, 'data'))
const files = await readdir(join(server.folder, 'lakes'), { recursive: true })
console.log(`${files.filter((name) => name.endsWith('.parquet')).length} files`)
await ask()
await run(...COUNT, '--checked')
await run('compact')
await ask()
await rm(home, { recursive: true, force: true })
