/** Traces and metrics of a run as a collector receives them. */

import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { installLine } from '../../src/core/optional-parts.ts'
import { withTelemetry } from '../../src/observe/observe.ts'
import { cli, cliJson, SAMPLE_COMPANIES } from '../cli/run-cli.ts'
import { selfSigned } from '../support/needs.ts'
import type { CliResult } from '../support/run-command.ts'
import { stubEnvironment } from '../support/s3-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { withoutPart } from '../support/without-part.ts'
import { type Endpoint, openEndpoint } from './endpoint.ts'
import { type DecodedPoint, type DecodedSpan, decodePoints, decodeSpans } from './otlp.ts'

const at = ({ url }: Endpoint): Readonly<Record<string, string>> => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url })

const spansAt = async ({ received }: Endpoint): Promise<DecodedSpan[]> => {
  const bodies = received.filter(({ path }) => path === '/v1/traces').map(({ body }) => body)
  return (await Promise.all(bodies.map(decodeSpans))).flat()
}

const pointsAt = async ({ received }: Endpoint): Promise<DecodedPoint[]> => {
  const bodies = received.filter(({ path }) => path === '/v1/metrics').map(({ body }) => body)
  return (await Promise.all(bodies.map(decodePoints))).flat()
}

const convert = async (
  env: Readonly<Record<string, string>>,
  input = SAMPLE_COMPANIES,
): Promise<CliResult & { readonly lake: string }> => {
  const lake = join(await temporaryFolder(), 'lake')
  return { lake, ...(await cli(['convert', input, '--lake', lake, '--json'], { env })) }
}

test('a collector receives a span of each stage, in the one of the run, and what was counted', async () => {
  const endpoint = await openEndpoint()
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const { code, stdout, stderr, lake } = await convert({ ...at(endpoint), TRACEPARENT: traceparent })
  expect([code, stderr]).toEqual([0, ''])
  const report: {
    readonly run: string
    readonly records: number
    readonly decodedBytes: number
    readonly rows: Readonly<Record<string, number>>
  } = JSON.parse(stdout)

  const spans = await spansAt(endpoint)
  const [run, ...others] = spans.filter(({ name }) => name.startsWith('run '))
  expect(others).toEqual([])
  expect(run).toMatchObject({
    name: 'run convert',
    traceId: '0af7651916cd43dd8448eb211c80319c',
    parentSpanId: 'b7ad6b7169203331',
    attributes: { 'firmlake.run': report.run, 'firmlake.lake': lake, 'firmlake.attempt': 1 },
    resource: { 'service.name': 'firmlake' },
  })
  const byId = new Map(spans.map((span) => [span.spanId, span]))
  const parents = spans.map(({ name, parentSpanId = '' }) => [name, byId.get(parentSpanId)?.name])
  expect(new Set(parents.map(([name, parent]) => `${parent} > ${name}`))).toEqual(
    new Set([
      ...['undefined > run convert', 'run convert > source', 'source > decode', 'source > load'],
      ...['load > sink', 'run convert > commit', 'commit > sink'],
    ]),
  )
  for (const { startTimeUnixNano, endTimeUnixNano } of spans)
    expect(BigInt(endTimeUnixNano) >= BigInt(startTimeUnixNano)).toBe(true)
  expect(spans.find(({ name }) => name === 'commit')?.attributes).toMatchObject({ 'firmlake.snapshot': 1 })

  const points = await pointsAt(endpoint)
  const sum = (metric: string, attributes: object = {}): number =>
    points
      .filter((point) => point.metric === metric)
      .filter((point) =>
        Object.entries(attributes).every(([name, value]) => point.attributes[name] === value),
      )
      .reduce((total, { value }) => total + value, 0)
  expect(sum('firmlake.records', { content: 'companies' })).toBe(report.records)
  expect(sum('firmlake.quarantined')).toBe(0)
  expect(sum('firmlake.decoded')).toBe(report.decodedBytes)
  expect(report.rows.financials).toBeGreaterThan(0)
  expect(sum('firmlake.rows', { table: 'financials' })).toBe(report.rows.financials)
  expect(sum('firmlake.written', { table: 'financials' })).toBeGreaterThan(0)
  expect(sum('firmlake.run.duration', { pipeline: 'convert', outcome: 'done' })).toBe(1)
  expect(sum('firmlake.stage.duration', { stage: 'commit' })).toBe(1)
})

test('a run that fails has spans that say why, and no record of anybody in them', async () => {
  const endpoint = await openEndpoint()
  const input = join(await temporaryFolder(), 'companies.jsonl')
  await writeFile(input, '{"BasicDetails":{"InternalId":1,"CompanyName":"Secret AB","Oops":\n')
  const { code } = await convert({ ...at(endpoint), OTEL_SERVICE_NAME: 'nights' }, input)
  expect(code).toBe(3)
  const spans = await spansAt(endpoint)
  expect(spans.find(({ name }) => name === 'run convert')).toMatchObject({
    attributes: { 'error.type': 'QUARANTINE_LIMIT' },
    status: {
      code: 'STATUS_CODE_ERROR',
      message: expect.stringContaining('QUARANTINE_LIMIT: Cannot commit'),
    },
    resource: { 'service.name': 'nights' },
  })
  expect(Buffer.concat(endpoint.received.map(({ body }) => body)).includes('Secret')).toBe(false)
  const failed = (await pointsAt(endpoint)).filter(({ metric }) => metric === 'firmlake.run.duration')
  expect(failed.map(({ attributes }) => attributes.outcome)).toEqual(['QUARANTINE_LIMIT'])
})

test.each([500, 'hang'] as const)(
  'a collector that answers with %s costs a warning and at most 5 s',
  async (answer) => {
    const endpoint = await openEndpoint(answer)
    const startMs = performance.now()
    const { code, stdout, stderr, lake } = await convert({
      ...at(endpoint),
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '2',
      OPENLINEAGE_URL: endpoint.url,
    })
    const tookMs = performance.now() - startMs
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ snapshot: 1 })
    const warnings = stderr.trimEnd().split('\n')
    expect(warnings.every((line) => /^warning: (OpenTelemetry|OpenLineage|telemetry) /.test(line))).toBe(true)
    expect(warnings.length).toBeLessThanOrEqual(3)
    expect(endpoint.received.length).toBeGreaterThan(1)
    expect(tookMs).toBeLessThan(20_000)
    expect((await cliJson<{ snapshot: number }>(['status', '--lake', lake])).snapshot).toBe(1)
  },
)

test('without the packages a line says how to install them, and the run is done', async () => {
  const endpoint = await openEndpoint()
  const { code, stderr } = await convert({ ...at(endpoint), ...withoutPart('telemetry') })
  expect([code, stderr]).toEqual([
    0,
    'warning: OpenTelemetry is not sent: Cannot use OpenTelemetry: its packages are not installed, ' +
      `"${installLine('telemetry')}" installs them\n`,
  ])
  expect(endpoint.received).toEqual([])
})

test.each([
  ['no variable', {}],
  ['OTEL_SDK_DISABLED', { OTEL_SDK_DISABLED: 'true', OTEL_TRACES_EXPORTER: 'otlp' }],
  ['exporters that are none', { OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' }],
])('with %s no package is loaded', async (_what, env) => {
  const modules = join(await temporaryFolder(), 'modules')
  const preload = new URL('../cli/preload-modules.ts', import.meta.url).href
  const { code } = await convert({ NODE_OPTIONS: `--import ${preload}`, MODULES_FILE: modules, ...env })
  expect(code).toBe(0)
  const loaded = await readFile(modules, 'utf8')
  expect(loaded).toContain('convert.ts')
  expect(loaded).not.toMatch(/opentelemetry|observe\/(telemetry\/open|lineage\/open)/)
})

test('headers go by plain http to this machine only, and certificates are verified whatever the environment says', async (context) => {
  const beyond = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.test:4318' }
  for (const name of ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS']) {
    const { code, stderr } = await convert({ ...beyond, [name]: 'authorization=secret-4711' })
    expect([code, stderr]).toEqual([
      0,
      `warning: OpenTelemetry is not sent: ${name} is not sent to "http://collector.test:4318" by plain http, expected https\n`,
    ])
  }
  const { key, certificate } = await selfSigned(context, ['localhost'])
  const requests: (string | undefined)[] = []
  const pem = { key: await readFile(key), cert: await readFile(certificate) }
  const server = createServer(pem, (request, response) => {
    requests.push(request.url)
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const unverified = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `https://localhost:${(server.address() as AddressInfo).port}`,
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
  }
  // A process of its own, as a user starts it.
  const { code, stderr } = await convert({ ...unverified, TZ: 'UTC' })
  expect(code).toBe(0)
  expect(stderr).toContain('OpenTelemetry could not be sent')
  expect(stderr).not.toContain('NODE_TLS_REJECT_UNAUTHORIZED')
  stubEnvironment(unverified)
  const warnings: string[] = []
  await withTelemetry(
    process.env,
    async () => undefined,
    (text) => warnings.push(text),
  )
  expect(warnings).toEqual([expect.stringContaining('NODE_TLS_REJECT_UNAUTHORIZED=0')])
  expect(requests).toEqual([])
})
