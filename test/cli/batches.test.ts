/** `batches list` and `batches pull` as a person calls them, against a small service. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { LoadSummary } from '../../src/run/commit-loaded.ts'
import { companyLines, relationsLine } from '../run/batch-bench.ts'
import { type BatchService, type Offered, offer, startBatchService, TOKEN } from '../run/batch-service.ts'
import { type CliResult, type CommandOptions, runCommand, runCommandJson } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { errorCode } from './run-cli.ts'

interface Report {
  readonly run: string | null
  readonly snapshot: number | null
  readonly records: number
  readonly skipped: LoadSummary['skipped']
}
interface Status {
  readonly snapshot: number | null
  readonly unfinished: readonly unknown[]
  readonly partitionList: readonly { readonly source: string; readonly batch?: object }[]
}

const serving = async (...files: readonly Offered[]): Promise<BatchService> => {
  const service = await startBatchService(files)
  onTestFinished(service.close)
  return service
}

const environment = ({ url }: BatchService): CommandOptions => ({
  env: { FIRMLAKE_URL: url, FIRMLAKE_TOKEN: TOKEN },
})

const newLake = async (): Promise<string> => join(await temporaryFolder(), 'lake')

const pulled = (service: BatchService, lake: string, ...args: string[]): Promise<Report> =>
  runCommandJson<Report>(['batches', 'pull', ...args, '--lake', lake], environment(service))

const refused = (service: BatchService, ...args: string[]): Promise<CliResult> =>
  runCommand(['batches', 'pull', ...args, '--json'], environment(service))

const namesIn = async (lake: string): Promise<string[]> => {
  const { partitionList } = await runCommandJson<Status>(['status', '--lake', lake, '--partitions'])
  return partitionList.map(({ source }) => source)
}

const SWEDEN = offer('b-se', companyLines(5))
const NORWAY = offer('b-no', companyLines(4, 100), { listed: { CountryCode: 'NO' } })
const RELATIONS = offer('b-rel', [relationsLine(1), relationsLine(2)], { listed: { Content: 'Relations' } })

test('batches list shows the files, and those of a content and country only', async () => {
  const service = await serving(SWEDEN, NORWAY, RELATIONS)
  const { stdout, code } = await runCommand(['batches', 'list'], environment(service))
  expect(code).toBe(0)
  expect(stdout.split('\n').find((line) => line.startsWith('b-no'))).toMatch(
    /^b-no +b-no\.jsonl\.br +companies +NO +.*B +4 +2026-01-02T00:00:00\.000Z$/,
  )
  const filter = ['--content', 'companies', '--country', 'se,fi']
  expect(await runCommandJson(['batches', 'list', ...filter], environment(service))).toMatchObject({
    service: service.url,
    batchFiles: [{ id: 'b-se', content: 'companies', countryCode: 'SE', count: 5 }],
  })
})

test('batches list of a service without any names the command that makes them', async () => {
  const none = await runCommand(['batches', 'list'], environment(await serving()))
  expect(none).toMatchObject({ code: 0, stdout: expect.stringContaining('"firmlake batches make"') })
  const other = await runCommand(['batches', 'list', '--country', 'FI'], environment(await serving(SWEDEN)))
  expect(other.stdout).toBe('The service lists no such batch file.\n')
})

test('batches pull loads a file by its id, and leaves it alone the next time', async () => {
  const [service, lake] = [await serving(SWEDEN, NORWAY), await newLake()]
  expect(await pulled(service, lake, 'b-no')).toMatchObject({ snapshot: 1, records: 4, skipped: [] })
  const { partitionList } = await runCommandJson<Status>(['status', '--lake', lake, '--partitions'])
  expect(partitionList).toMatchObject([
    { source: 'b-no.jsonl.br', batch: { service: service.url, id: 'b-no', announced: 4 } },
  ])
  expect(await pulled(service, lake, 'b-no')).toMatchObject({
    run: null,
    snapshot: null,
    skipped: [{ source: 'b-no.jsonl.br' }],
  })
  expect(await pulled(service, lake, 'b-no', '--again')).toMatchObject({ snapshot: 2, records: 4 })
})

test('batches pull --new loads what the lake does not hold, and then nothing', async () => {
  const [service, lake] = [await serving(SWEDEN, RELATIONS), await newLake()]
  expect(await pulled(service, lake, '--new')).toMatchObject({ snapshot: 1, records: 7 })
  expect(await pulled(service, lake, '--new')).toMatchObject({ run: null, snapshot: null })
  expect(service.requests).toHaveLength(2)
  service.files.push(NORWAY)
  expect(await pulled(service, lake, '--new')).toMatchObject({ snapshot: 2, records: 4 })
  expect(await namesIn(lake)).toEqual(['b-se.jsonl.br', 'b-rel.jsonl.br', 'b-no.jsonl.br'])
})

test('batches pull takes files of a content and of countries only', async () => {
  const service = await serving(SWEDEN, NORWAY, RELATIONS)
  const [byCountry, byContent] = [await newLake(), await newLake()]
  await pulled(service, byCountry, '--new', '--country', 'NO')
  await pulled(service, byContent, '--new', '--content', 'relations')
  expect(await namesIn(byCountry)).toEqual(['b-no.jsonl.br'])
  expect(await namesIn(byContent)).toEqual(['b-rel.jsonl.br'])
  const none = await runCommand(
    ['batches', 'pull', '--new', '--country', 'FI', '--lake', byContent],
    environment(service),
  )
  expect(none).toMatchObject({ code: 0, stdout: 'Nothing to load: the service offers no such batch file.\n' })
})

test('an id that is not listed is named, and no lake is made', async () => {
  const [service, lake] = [await serving(SWEDEN), await newLake()]
  const failed = await refused(service, 'b-se', 'b-gone', '--lake', lake)
  expect([failed.code === 0, errorCode(failed)]).toEqual([false, 'SERVICE_NOT_FOUND'])
  expect(failed.stderr).toContain('b-gone')
  expect(existsSync(lake)).toBe(false)
  expect(service.requests).toEqual([])
})

test.each([
  ['nothing', []],
  ['ids and --new', ['b-se', '--new']],
  ['ids and a filter', ['b-se', '--country', 'SE']],
  ['a country that is no code', ['--new', '--country', 'Sweden']],
])('batches pull with %s is a mistake of usage', async (_, args) => {
  const [service, lake] = [await serving(SWEDEN), await newLake()]
  expect(errorCode(await refused(service, ...args, '--lake', lake))).toBe('USAGE')
})

test('the token is asked for where there is none, and refused where it is wrong', async () => {
  const { url } = await serving(SWEDEN)
  const call = (token: string): Promise<CliResult> =>
    runCommand(['batches', 'list', '--json'], { env: { FIRMLAKE_URL: url, FIRMLAKE_TOKEN: token } })
  expect(errorCode(await call(''))).toBe('TOKEN_MISSING')
  const wrong = await call('wrong-token')
  expect(errorCode(wrong)).toBe('TOKEN_REFUSED')
  expect(wrong.stderr).not.toContain('wrong-token')
})

test('batches pull names and skips a file whose id holds half a character, and loads the others', async () => {
  const half = offer('b-\ud800', companyLines(3, 50))
  const [service, lake] = [await serving(half, SWEDEN), await newLake()]
  const { code, stdout, stderr } = await runCommand(
    ['batches', 'pull', '--new', '--lake', lake, '--json'],
    environment(service),
  )
  expect(code).toBe(0)
  expect(stderr).toContain('batch file "b-\\ud800.jsonl.br" is skipped')
  const reason = expect.stringContaining('half a character')
  const skipped = [{ source: 'b-\\ud800.jsonl.br', reason }]
  expect(JSON.parse(stdout)).toMatchObject({ snapshot: 1, records: 5, skipped })
  expect(service.requests.map(({ id }) => id)).toEqual(['b-se'])
  // Alone it leaves nothing to load, and begins no run.
  expect(await pulled(await serving(half), await newLake(), '--new')).toMatchObject({ run: null, skipped })
})
