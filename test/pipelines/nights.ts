/** Nights as the program does them, and the services that they ask. */

import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect } from 'vitest'
import { runProgram } from '../../src/jobs/run-program.ts'
import { nightly as runNightly } from '../../src/nightly/nightly.ts'
import { chooseTokens } from '../../src/server/access/choose-tokens.ts'
import { type LakeServer, serveLake } from '../../src/server/serve-lake.ts'
import { companyLine, openBench, relationsLine } from '../run/batch-bench.ts'

const NIGHTLY = fileURLToPath(new URL('../../pipelines/nightly.ts', import.meta.url))
export const TOKEN = 'token-of-the-night'
export const LONG_AGO = '2025-03-01T00:00:00'
const FAR_AHEAD = '2099-03-01T00:00:00'

export interface Night {
  readonly code: number | null
  readonly summary: Readonly<Record<string, unknown>>
}

type Env = Readonly<Record<string, string>>

export const BASE: Env = { FIRMLAKE_SEARCH: '{"CountryCode":["SE"]}', FIRMLAKE_TOKEN: TOKEN }

/** What the program does, in this process. */
export const nightly = async (env: Env): Promise<Night> => {
  let summary: object = {}
  try {
    await runProgram(
      (program) => runNightly({ ...program, env: { ...BASE, ...env } }),
      (shown) => {
        summary = shown
      },
    )
    expect(JSON.stringify(summary)).not.toContain(TOKEN)
    return { code: Number(process.exitCode ?? 0), summary: { ...summary } }
  } finally {
    process.exitCode = undefined
  }
}

/** Runs the program itself to its end; what it prints must be one line of JSON without the token. */
export const nightlyProcess = async (env: Env, onStart?: (child: ChildProcess) => void): Promise<Night> => {
  const child = spawn(process.execPath, [NIGHTLY], { env: { ...process.env, ...BASE, ...env } })
  let printed = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
  onStart?.(child)
  const [code] = (await once(child, 'close')) as [number | null]
  expect(printed).not.toContain(TOKEN)
  return { code, summary: JSON.parse(printed) }
}

/**
 * Serves a lake of five companies, one without dates.
 *
 * @param changes when one of them changed last
 */
export const serve = async (folder: string, changes: string): Promise<LakeServer> => {
  const bench = openBench(folder)
  const meta = (at: string) => ({
    MetaData: { CurrentCurrencyCode: 'USD', ContentUpdatedAt: at, RelationsUpdatedAt: at },
  })
  await bench.write('companies.jsonl', [
    ...[1, 2, 3].map((id) => companyLine(id, meta(LONG_AGO))),
    companyLine(4, meta(changes)),
    companyLine(5, { MetaData: { CurrentCurrencyCode: 'USD' } }),
  ])
  await bench.write(
    'relations.jsonl',
    [1, 4].map((id) => relationsLine(id)),
  )
  await bench.run(['companies.jsonl', 'relations.jsonl'])
  const { registry } = await chooseTokens({ token: TOKEN, host: '127.0.0.1', random: randomBytes })
  return serveLake({
    lake: bench.lake,
    tokens: registry,
    cursorKey: randomBytes(32),
    cursorCap: 100_000,
    queryTimeoutMs: 30_000,
    memoryBytes: 256 * 1024 ** 2,
    http: { port: 0 },
  })
}

/** Serves a lake of which one company changes again and again, to the tests of a file. @returns what gives its address */
export const useChanging = (): (() => string) => {
  let address = ''
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
    const server = await serve(folder, FAR_AHEAD)
    address = server.address
    return async () => {
      await server.close()
      await rm(folder, { recursive: true, force: true })
    }
  })
  return () => address
}
