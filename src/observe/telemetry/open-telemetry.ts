/** Traces and metrics of runs by OpenTelemetry: the SDK reads its own variables, `OTEL_…`. Its packages are optional. */

import { requirePart } from '../../core/optional-parts.ts'
import type { StageEnd } from '../../core/stages.ts'
import { VERSION } from '../../support/tool-version.ts'
import type { Observer, ObserverOptions, Variables } from '../observer.ts'
import { runMetrics } from './run-metrics.ts'
import { runSpans } from './run-spans.ts'

/** Longest an export may take, in milliseconds, where the variables do not say. */
const EXPORT_LIMIT_MS = '5000'

const hasName = (env: Variables): boolean =>
  Boolean(env.OTEL_SERVICE_NAME) || /(^|,)\s*service\.name\s*=/.test(env.OTEL_RESOURCE_ATTRIBUTES ?? '')

/** Starts the SDK of this process. @throws {Error} why it cannot be started; `PACKAGE_MISSING` */
export const openTelemetry = async ({ env, warn }: ObserverOptions): Promise<Observer> => {
  requirePart('telemetry')
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
