/**
 * Traces and metrics of runs by OpenTelemetry: the SDK reads its own variables, `OTEL_…`. Its packages are optional. A stage is
 * counted where it ends, never by row.
 */

import type { Attributes, Context, Meter, Span, Tracer } from '@opentelemetry/api'
import { failureOf } from '../core/errors.ts'
import { requirePart } from '../core/optional-parts.ts'
import type { Stage, StageEnd, StageOutcome } from '../core/stages.ts'
import { VERSION } from '../support/own-package.ts'
import { checkTelemetry, type Observer, type ObserverOptions, type Variables } from './settings.ts'

/** Longest an export may take, in milliseconds, where the variables do not say. */
const EXPORT_LIMIT_MS = '5000'

const hasName = (env: Variables): boolean =>
  Boolean(env.OTEL_SERVICE_NAME) || /(^|,)\s*service\.name\s*=/.test(env.OTEL_RESOURCE_ATTRIBUTES ?? '')

/** Starts the SDK of this process. @throws {Error} why it cannot be started; `PACKAGE_MISSING` */
export const openTelemetry = async ({ env, warn }: ObserverOptions): Promise<Observer> => {
  requirePart('telemetry')
  checkTelemetry(env)
  const [api, sdk] = await Promise.all([import('@opentelemetry/api'), import('@opentelemetry/sdk-node')])
  // An endpoint that does not answer must not be waited for longer than the end of the work is.
  process.env.OTEL_EXPORTER_OTLP_TIMEOUT ??= EXPORT_LIMIT_MS
  const node = new sdk.NodeSDK({
    ...(!hasName(env) && { serviceName: 'firmlake' }),
    // Logs are lines on standard error, and results stand on standard output: nothing else is sent or printed.
    logRecordProcessors: [],
  })
  let failed = false
  const fail = (): void => {
    if (!failed)
      warn('OpenTelemetry could not be sent; check OTEL_EXPORTER_OTLP_ENDPOINT and what answers there')
    failed = true
  }
  const quiet = (): void => undefined
  api.diag.setLogger(
    { error: fail, warn: quiet, info: quiet, debug: quiet, verbose: quiet },
    { logLevel: api.DiagLogLevel.ERROR, suppressOverrideMessage: true },
  )
  node.start()
  const spans = runSpans(api, api.trace.getTracer('firmlake', VERSION), env)
  const metrics = runMetrics(api.metrics.getMeter('firmlake', VERSION))
  return {
    listener: (stage, parent): StageEnd => {
      const endSpan = spans(stage, parent)
      const endMeasure = metrics(stage)
      return (outcome, error) => {
        endSpan(outcome, error)
        endMeasure(outcome, error)
      }
    },
    close: () => node.shutdown(),
  }
}

/** `done`, `stopped`, or the code of what it failed with. */
const endOf = (error: unknown): string =>
  error === undefined ? 'done' : (failureOf(error)?.code ?? 'INTERRUPTED')

/** Bounds of buckets, in seconds: from a block to a night. */
const BOUNDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 1800, 3600, 7200, 14_400]

const runMetrics = (meter: Meter): ((stage: Stage) => StageEnd) => {
  const counter = (name: string, unit: string, description: string) =>
    meter.createCounter(`firmlake.${name}`, { unit, description })
  const runs = counter('runs', '{run}', 'Runs that ended.')
  const records = counter('records', '{record}', 'Records loaded.')
  const quarantined = counter('quarantined', '{line}', 'Lines that went to the quarantine.')
  const filtered = counter('filtered', '{record}', 'Records that the projection left out.')
  const decoded = counter('decoded', 'By', 'Bytes of JSON Lines decoded.')
  const rows = counter('rows', '{row}', 'Rows written to tables.')
  const written = counter('written', 'By', 'Bytes of the files written.')
  const seconds = (name: string, description: string) =>
    meter.createHistogram(`firmlake.${name}`, {
      ...{ unit: 's', description },
      advice: { explicitBucketBoundaries: BOUNDS },
    })
  const runTime = seconds('run.duration', 'How long runs take.')
  const stageTime = seconds(
    'stage.duration',
    'How long a stage takes, for a source, block, partition or table.',
  )
  return (stage) => {
    const startMs = performance.now()
    return (outcome, error) => {
      const tookSeconds = (performance.now() - startMs) / 1000
      if (stage.stage === 'run') {
        const ended = { pipeline: stage.pipeline, outcome: endOf(error) }
        runs.add(1, ended)
        runTime.record(tookSeconds, ended)
        return
      }
      stageTime.record(tookSeconds, { stage: stage.stage })
      if (stage.stage === 'decode') decoded.add(outcome.bytes ?? 0)
      if (stage.stage === 'load') {
        records.add(outcome.records ?? 0, { content: stage.content })
        quarantined.add(outcome.quarantined ?? 0, { content: stage.content })
        if (outcome.filtered) filtered.add(outcome.filtered, { content: stage.content })
      }
      if (stage.stage === 'sink') {
        rows.add(outcome.rows ?? 0, { table: stage.table })
        written.add(outcome.bytes ?? 0, { table: stage.table })
      }
    }
  }
}

type Api = typeof import('@opentelemetry/api')

const attributesOf = ({ stage: _, ...facts }: Stage): Attributes =>
  Object.fromEntries(Object.entries(facts).map(([name, value]) => [`firmlake.${name}`, value]))

const outcomeAttributes = ({ committed, ...facts }: StageOutcome): Attributes => ({
  ...Object.fromEntries(Object.entries(facts).map(([name, value]) => [`firmlake.${name}`, value])),
  ...(committed && { 'firmlake.partitions': committed.partitions.length }),
  ...(committed?.snapshot && { 'firmlake.snapshot': committed.snapshot.snapshot }),
})

/** @param env a scheduler's own span may stand in `TRACEPARENT` */
const runSpans = (
  api: Api,
  tracer: Tracer,
  env: Variables,
): ((stage: Stage, parent: Stage | undefined) => StageEnd) => {
  const spans = new WeakMap<Stage, Span>()
  const { TRACEPARENT: traceparent, TRACESTATE: tracestate } = env
  const outside = (): Context =>
    traceparent === undefined
      ? api.context.active()
      : api.propagation.extract(api.context.active(), { traceparent, ...(tracestate && { tracestate }) })
  return (stage, parent) => {
    const within = parent && spans.get(parent)
    const context = within ? api.trace.setSpan(api.ROOT_CONTEXT, within) : outside()
    const name = stage.stage === 'run' ? `run ${stage.pipeline}` : stage.stage
    const span = tracer.startSpan(name, { attributes: attributesOf(stage) }, context)
    spans.set(stage, span)
    return (outcome, error) => {
      span.setAttributes(outcomeAttributes(outcome))
      if (error !== undefined) {
        const { code, message } = failureOf(error) ?? { code: 'INTERRUPTED', message: 'it was interrupted' }
        span.setAttribute('error.type', code)
        span.setStatus({ code: api.SpanStatusCode.ERROR, message: `${code}: ${message}` })
      }
      span.end()
    }
  }
}
