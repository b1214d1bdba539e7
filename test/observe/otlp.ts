/** Decodes what an exporter of OTLP sends, by the published definitions of its messages. */

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import protobuf from 'protobufjs'

const FOLDER = fileURLToPath(new URL('../fixtures/otlp', import.meta.url))
const SERVICES = {
  '/v1/traces': ['trace', 'ExportTraceServiceRequest'],
  '/v1/metrics': ['metrics', 'ExportMetricsServiceRequest'],
} as const

type Attributes = Readonly<Record<string, string | number>>

interface KeyValue {
  readonly key: string
  readonly value: { readonly stringValue?: string; readonly intValue?: string; readonly doubleValue?: number }
}

/** As protobufjs gives them, with what is read of them here. */
interface Request {
  readonly resourceSpans?: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] }
    readonly scopeSpans: readonly { readonly spans: readonly RawSpan[] }[]
  }[]
  readonly resourceMetrics?: readonly {
    readonly scopeMetrics: readonly { readonly metrics: readonly RawMetric[] }[]
  }[]
}

interface RawSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes?: readonly KeyValue[]
  readonly status?: { readonly code?: string; readonly message?: string }
}

interface RawPoint {
  readonly attributes?: readonly KeyValue[]
  readonly asInt?: string
  readonly asDouble?: number
  readonly count?: string
}

interface RawMetric {
  readonly name: string
  readonly unit: string
  readonly sum?: { readonly dataPoints: readonly RawPoint[] }
  readonly histogram?: { readonly dataPoints: readonly RawPoint[] }
}

export interface DecodedSpan extends Omit<RawSpan, 'attributes'> {
  readonly attributes: Attributes
  readonly resource: Attributes
}

export interface DecodedPoint {
  readonly metric: string
  readonly unit: string
  readonly attributes: Attributes
  /** Of a counter its value, of a histogram how many values it has. */
  readonly value: number
}

const attributesOf = (list: readonly KeyValue[] = []): Attributes =>
  Object.fromEntries(
    list.map(({ key, value: { stringValue, intValue, doubleValue } }) => [
      key,
      stringValue ?? (intValue === undefined ? (doubleValue ?? 0) : Number(intValue)),
    ]),
  )

const decode = async (path: keyof typeof SERVICES, body: Uint8Array): Promise<Request> => {
  const [kind, message] = SERVICES[path]
  const root = new protobuf.Root()
  root.resolvePath = (_, target) => join(FOLDER, target)
  await root.load(`opentelemetry/proto/collector/${kind}/v1/${kind}_service.proto`)
  const type = root.lookupType(`opentelemetry.proto.collector.${kind}.v1.${message}`)
  return type.toObject(type.decode(body), { longs: String, enums: String })
}

const hexOf = (id: unknown): string => Buffer.from(id as Uint8Array).toString('hex')

export const decodeSpans = async (body: Uint8Array): Promise<DecodedSpan[]> => {
  const { resourceSpans = [] } = await decode('/v1/traces', body)
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        ...span,
        traceId: hexOf(span.traceId),
        spanId: hexOf(span.spanId),
        ...(span.parentSpanId && { parentSpanId: hexOf(span.parentSpanId) }),
        attributes: attributesOf(span.attributes),
        resource: attributesOf(resource.attributes),
      })),
    ),
  )
}

export const decodePoints = async (body: Uint8Array): Promise<DecodedPoint[]> => {
  const { resourceMetrics = [] } = await decode('/v1/metrics', body)
  return resourceMetrics.flatMap(({ scopeMetrics }) =>
    scopeMetrics.flatMap(({ metrics }) =>
      metrics.flatMap(({ name, unit, sum, histogram }) =>
        [...(sum?.dataPoints ?? []), ...(histogram?.dataPoints ?? [])].map((point) => ({
          metric: name,
          unit,
          attributes: attributesOf(point.attributes),
          value: Number(point.asInt ?? point.asDouble ?? point.count),
        })),
      ),
    ),
  )
}
