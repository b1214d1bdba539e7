/** Faults as a person meets them: the real commands, their exit codes and what they leave behind. */

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { listRuns } from '../../src/manifest/runs/runs.ts'
import { newestSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import type { FaultRule } from '../../src/server/faults/fault-rules.ts'
import type { LakeServer } from '../../src/server/serve-lake.ts'
import { cli, errorCode } from '../cli/run-cli.ts'
import { openBench, verify } from '../run/batch-bench.ts'
import { type CliResult, runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { ALL_TABLES, loadCompanies, makeServable, openServer, rowsOf, TOKEN } from './serving.ts'

let served = ''
let faultless: Awaited<ReturnType<typeof rowsOf>> = {}

beforeAll(async () => {
  const bench = openBench(await mkdtemp(join(tmpdir(), 'firmlake-')))
  served = bench.lake
  await loadCompanies(bench)
  await makeServable(served)
  faultless = await rowsOf(served, ALL_TABLES)
})
afterAll(() => rm(join(served, '..'), { recursive: true, force: true }))

const COMPANIES = ['pull', 'companies', '--search', '{"CountryCode":["SE"]}', '--page-size', '10']
const RELATIONS = ['pull', 'relations', '--search', '{"CountryCode":["SE"]}', '--page-size', '10']
const BATCHES = ['batches', 'pull', '--new']
const SOON = ['--max-wait', '2s']

/** Runs a command on a lake; what it prints and all files below the folder do not have the token. */
const run = async (folder: string, url: string, args: readonly string[]): Promise<CliResult> => {
  const env = { FIRMLAKE_URL: url, FIRMLAKE_TOKEN: TOKEN }
  const result = await runCommand([...args, '--lake', 'lake'], { cwd: folder, env })
  expect(result.stdout + result.stderr).not.toContain(TOKEN)
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile() && (await readFile(path)).includes(TOKEN)) throw new Error(`"${path}" has the token`)
  }
  return result
}

const serve = async (faults: readonly FaultRule[], port = 0): Promise<LakeServer> => {
  const server = await openServer(served, { faults, port })
  onTestFinished(() => server.close())
  return server
}

test('faults that pass end with 0 and the faultless lake', async () => {
  const at = (...numbers: number[]) => ({ kind: 'at', numbers }) as const
  const { address } = await serve([
    { on: 'parameters', fault: '503', selection: at(1) },
    { on: 'companies', fault: '429', retryAfter: '1', selection: at(2) },
    { on: 'companies', fault: 'resetInBody', selection: at(4) },
    { on: 'companies', fault: 'expiredCursor', selection: at(6) },
    { on: 'relations', fault: '502', selection: at(1) },
    { on: 'relations', fault: 'halfDocument', selection: at(3) },
    { on: 'relations', fault: 'duplicatePage', selection: at(5) },
  ])
  const folder = await temporaryFolder()
  const companies = await run(folder, address, [...COMPANIES, '--json'])
  expect([companies.code, companies.stderr]).toEqual([0, ''])
  expect(JSON.parse(companies.stdout).pull).toMatchObject({ announced: 60, received: 60, retries: 3 })
  const relations = await run(folder, address, RELATIONS)
  expect([relations.code, relations.stdout]).toEqual([0, expect.stringContaining('60 of 60')])
  const lake = join(folder, 'lake')
  expect(await rowsOf(lake, ALL_TABLES)).toEqual(faultless)
  expect((await verify(lake)).problems).toEqual([])
})

const STAYING = [
  { name: '500 on pages', on: 'companies', fault: '500', args: COMPANIES, code: 'SERVICE_FAILED', exit: 1 },
  { name: 'busy on pages', on: 'relations', fault: '429', args: RELATIONS, code: 'SERVICE_BUSY', exit: 75 },
  {
    name: 'damage on downloads',
    on: 'batchFile',
    fault: 'damaged',
    args: BATCHES,
    code: 'DOWNLOAD_DAMAGED',
    exit: 1,
  },
  {
    name: 'a redirect',
    on: 'companies',
    fault: 'redirect',
    args: COMPANIES,
    code: 'SERVICE_REDIRECTED',
    exit: 1,
  },
] as const

/** The tables that a pull fills. */
const TABLES_OF = {
  companies: ['companies', 'financials', 'employees'],
  relations: ['relations', 'relation_entities', 'ownerships', 'roles'],
  batchFile: ALL_TABLES,
} as const

test.each(STAYING)(
  '$name: $exit, $code, and the same command goes on',
  async ({ on, fault, args, code, exit }) => {
    const isPages = args !== BATCHES
    const selection = { kind: 'from', first: isPages ? 4 : 2 } as const
    const faults = [{ on, fault, selection, ...(fault === '429' && { retryAfter: '3600' }) }]
    const server = await serve(faults)
    const folder = await temporaryFolder()
    const lake = join(folder, 'lake')
    const failed = await run(folder, server.address, [...args, ...SOON, '--json'])
    expect([failed.code, failed.stdout]).toEqual([exit, ''])
    expect(errorCode(failed)).toBe(code)
    expect(await newestSnapshot(lake)).toBeNull()
    const [begun] = await listRuns(lake, { now: new Date() })
    await server.close()
    await serve([], Number(new URL(server.address).port))
    const passed = await run(folder, server.address, [...args, '--json'])
    expect([passed.code, passed.stderr]).toEqual([0, ''])
    expect(JSON.parse(passed.stdout)).toMatchObject({ run: begun?.run })
    const tables = TABLES_OF[on]
    expect(await rowsOf(lake, tables)).toEqual(
      Object.fromEntries(tables.map((name) => [name, faultless[name]])),
    )
  },
)

test('an error is told to a person with what to do, and a server that was told to misbehave is one too', async () => {
  const folder = await temporaryFolder()
  const file = join(folder, 'faults.json')
  const log = join(folder, 'access.jsonl')
  const faults = [{ on: 'companies', fault: '429', retryAfter: 3600, from: 3 }]
  await writeFile(file, JSON.stringify({ faults }))
  let failed: CliResult | undefined
  const args = ['serve', '--lake', served, '--port', '0', '--faults', file, '--log', log]
  const server = await cli(args, {
    env: { FIRMLAKE_SERVE_TOKEN: TOKEN },
    onStart: (child) => {
      let stderr = ''
      child.stderr?.on('data', (text: string) => {
        stderr += text
        const url = /at (http:\S+)\n/.exec(stderr)?.[1]
        if (url === undefined || failed !== undefined) return
        child.stderr?.removeAllListeners('data')
        void run(folder, url, [...COMPANIES, ...SOON])
          .then((result) => {
            failed = result
          })
          .finally(() => child.kill('SIGTERM'))
      })
    },
  })
  expect([server.code, server.stdout.includes(TOKEN), server.stderr.includes(TOKEN)]).toEqual([
    0,
    false,
    false,
  ])
  expect(failed?.code).toBe(75)
  expect(failed?.stderr).toMatch(/^error SERVICE_BUSY: Cannot \w+ /m)
  expect(failed?.stderr).toContain('run the same command again later')
  expect(await readFile(log, 'utf8')).toContain('"status":429')
})
