/** Events of OpenLineage as an endpoint receives them, against their published schemas. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Ajv from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { SAMPLE, SAMPLE_COMPANIES } from '../cli/run-cli.ts'
import { MAIN, runCommand, runCommandJson } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Endpoint, openEndpoint } from './endpoint.ts'

const SCHEMAS = fileURLToPath(new URL('../fixtures/openlineage-2-0-2/', import.meta.url))
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

interface Dataset {
  readonly namespace: string
  readonly name: string
  readonly facets: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly inputFacets?: Dataset['facets']
  readonly outputFacets?: Dataset['facets']
}

interface LineageEvent {
  readonly eventType: string
  readonly eventTime: string
  readonly schemaURL: string
  readonly run: { readonly runId: string; readonly facets: Dataset['facets'] }
  readonly job: { readonly namespace: string; readonly name: string; readonly facets: Dataset['facets'] }
  readonly inputs: readonly Dataset[]
  readonly outputs: readonly Dataset[]
}

const ajv = new Ajv.default({
  strict: false,
  allErrors: true,
  formats: {
    uri: (text: string) => URL.canParse(text),
    uuid: UUID,
    'date-time': /^\d{4}-\d\d-\d\dT[\d:.]+Z$/,
  },
})
for (const name of readdirSync(SCHEMAS)) ajv.addSchema(JSON.parse(readFileSync(join(SCHEMAS, name), 'utf8')))

const problemsOf = (schema: string, value: unknown): string[] => {
  const validate = ajv.getSchema(schema)
  if (!validate) return [`there is no schema ${schema}`]
  return validate(value)
    ? []
    : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

/** Events at an endpoint: each is checked against its schema, and each facet against the one that it names. */
const eventsAt = ({ received }: Endpoint): LineageEvent[] =>
  received.map(({ path, body }) => {
    expect(path).toBe('/api/v1/lineage')
    const event: LineageEvent = JSON.parse(body.toString())
    expect(problemsOf(event.schemaURL, event)).toEqual([])
    const datasets = [...event.inputs, ...event.outputs]
    const facets = [
      ...[event.run.facets, event.job.facets],
      ...datasets.flatMap(({ facets: own, inputFacets = {}, outputFacets = {} }) => [
        own,
        inputFacets,
        outputFacets,
      ]),
    ].flatMap((one) => Object.values(one))
    for (const facet of facets) expect(problemsOf(String(facet._schemaURL), facet)).toEqual([])
    return event
  })

test('a run is told of when it begins and when it is committed, with what it read and wrote', async () => {
  const endpoint = await openEndpoint(201)
  const folder = await temporaryFolder()
  const lake = join(folder, 'lake')
  const env = {
    OPENLINEAGE_URL: endpoint.url,
    OPENLINEAGE_API_KEY: 'lineage-key',
    OPENLINEAGE_NAMESPACE: 'nights',
  }
  const report = await runCommandJson<{
    readonly records: number
    readonly sourceBytes: number
    readonly rows: Readonly<Record<string, number>>
  }>(['convert', SAMPLE_COMPANIES, '--lake', lake], { env })
  expect(endpoint.received.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer lineage-key',
    'Bearer lineage-key',
  ])
  const [start, complete] = eventsAt(endpoint)
  expect([start?.eventType, complete?.eventType]).toEqual(['START', 'COMPLETE'])
  expect(start?.run.runId).toBe(complete?.run.runId)
  expect(complete?.job).toMatchObject({ namespace: 'nights', name: 'lake.convert' })
  expect(complete?.inputs).toMatchObject([
    {
      namespace: 'file',
      name: SAMPLE,
      inputFacets: {
        inputStatistics: { rowCount: report.records, size: report.sourceBytes, fileCount: 1 },
      },
    },
  ])
  const outputs = new Map(complete?.outputs.map((output) => [output.name, output]))
  const financials = outputs.get(join(lake, 'financials'))
  expect(financials).toMatchObject({
    namespace: 'file',
    facets: { version: { datasetVersion: '1' } },
    outputFacets: { outputStatistics: { rowCount: report.rows.financials } },
  })
  const described = await runCommandJson<{ readonly column_name: string }[]>([
    ...['query', '--lake', lake, 'SELECT column_name FROM (DESCRIBE financials_history)'],
  ])
  const fields = financials?.facets.schema?.fields as readonly { readonly name: string }[]
  expect(described.map((one) => one.column_name)).toEqual(
    expect.arrayContaining(fields.map(({ name }) => name)),
  )
  expect(fields.length).toBeGreaterThan(5)

  await runCommandJson(['compact', '--lake', lake], { env })
  const compacted = eventsAt(endpoint).slice(2)
  expect(compacted.map(({ eventType, job }) => [eventType, job.name])).toEqual([
    ['START', 'lake.compact'],
    ['COMPLETE', 'lake.compact'],
  ])
  expect(compacted[1]?.inputs.map(({ name }) => name)).toEqual([join(lake, 'companies')])
  expect(compacted[1]?.outputs[0]?.facets.version).toMatchObject({ datasetVersion: '2' })
})

test('replay and forget are watched as other runs are', async () => {
  const endpoint = await openEndpoint(201)
  const folder = await temporaryFolder()
  const input = join(folder, 'companies.jsonl')
  await writeFile(input, '{"BasicDetails":{"InternalId":1,"CompanyName":"One AB"}}\n{"bad"\n')
  const env = { OPENLINEAGE_URL: endpoint.url }
  const lake = join(folder, 'lake')
  await runCommandJson(['convert', input, '--lake', lake, '--max-quarantined', '1'])
  await runCommandJson(['quarantine', 'replay', '--lake', lake], { env })
  await runCommandJson(['forget', '--lake', lake, '--company', '1'], { env })
  expect(eventsAt(endpoint).map(({ eventType, job }) => [eventType, job.name])).toEqual([
    ['START', 'lake.replay'],
    ['COMPLETE', 'lake.replay'],
    ['START', 'lake.forget'],
    ['COMPLETE', 'lake.forget'],
  ])
})

test('a run that fails is told of with its reason, one that is interrupted as aborted', async () => {
  const endpoint = await openEndpoint(201)
  const folder = await temporaryFolder()
  const input = join(folder, 'companies.jsonl')
  await writeFile(input, '{"BasicDetails":{"InternalId":1,"CompanyName":"Secret AB","Oops":\n')
  const env = { OPENLINEAGE_URL: endpoint.url }
  const lake = join(folder, 'lake')
  expect((await runCommand(['convert', input, '--lake', lake], { env })).code).toBe(3)
  const [start, fail] = eventsAt(endpoint)
  expect([start?.eventType, fail?.eventType]).toEqual(['START', 'FAIL'])
  expect(fail?.run.facets.errorMessage?.message).toContain('QUARANTINE_LIMIT: Cannot commit')
  expect(JSON.stringify(fail)).not.toContain('Secret')

  // Standard input that does not end: the run waits for it.
  const child = spawn(process.execPath, [MAIN, 'convert', '-', '--lake', lake], {
    env: { ...process.env, ...env },
  })
  child.stdin.write('\n')
  await expect.poll(() => endpoint.received.length, { timeout: 20_000 }).toBe(3)
  child.kill('SIGTERM')
  expect(await once(child, 'close')).toEqual([143, null])
  const [began, aborted] = eventsAt(endpoint).slice(2)
  expect([began?.eventType, aborted?.eventType]).toEqual(['START', 'ABORT'])
  expect(aborted?.run.runId).toBe(began?.run.runId)
})

test.each([
  ['an address that is none', { OPENLINEAGE_URL: 'nowhere' }, 'is no address'],
  [
    'a key by plain http',
    { OPENLINEAGE_URL: 'http://lineage.example', OPENLINEAGE_API_KEY: 'lineage-key' },
    'is not sent to "http://lineage.example" by plain http',
  ],
])('%s costs a warning, and the run is done', async (_what, env, reason) => {
  const lake = join(await temporaryFolder(), 'lake')
  const { code, stderr } = await runCommand(['convert', SAMPLE_COMPANIES, '--lake', lake, '--json'], { env })
  expect(code).toBe(0)
  expect(stderr).toMatch(/^warning: OpenLineage is not sent: [^\n]*\n$/)
  expect(stderr).toContain(reason)
  expect(stderr).not.toContain('lineage-key')
})
