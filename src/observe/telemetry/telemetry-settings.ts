/** Whether the standard variables ask for OpenTelemetry. Loads nothing of it. */

import type { Variables } from '../observer.ts'

const ASKING = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
] as const

const EXPORTERS = ['OTEL_TRACES_EXPORTER', 'OTEL_METRICS_EXPORTER'] as const

/** An endpoint, or an exporter other than `none`, and not `OTEL_SDK_DISABLED`. */
export const asksForTelemetry = (env: Variables): boolean => {
  if (env.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true') return false
  if (EXPORTERS.every((name) => env[name]?.trim() === 'none')) return false
  return (
    ASKING.some((name) => Boolean(env[name])) ||
    EXPORTERS.some((name) => Boolean(env[name]) && env[name] !== 'none')
  )
}
