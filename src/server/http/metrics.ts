/** Numbers for Prometheus. They name routes, methods and statuses: no token, no caller, no data. */

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** One finished request. */
export interface Observation {
  readonly route: string
  readonly method: string
  readonly status: string
  readonly seconds: number
  readonly bytes: number
}

export interface Metrics {
  readonly contentType: string
  text(): Promise<string>
  begun(): void
  ended(observation: Observation): void
  records(content: string, count: number): void
  throttled(): void
}

/** Those of the process are observed as long as it runs: once, whichever servers it has opened and closed. */
let ofProcess: Registry | undefined
const processRegistry = (): Registry => {
  if (ofProcess === undefined) {
    ofProcess = new Registry()
    collectDefaultMetrics({ register: ofProcess })
  }
  return ofProcess
}

/** @param snapshot gives the number of the one that is served */
export const newMetrics = (snapshot: () => number): Metrics => {
  const registry = new Registry()
  const registers = [registry]
  const whole = processRegistry()
  const requests = new Counter({
    name: 'firmlake_http_requests_total',
    help: 'Requests by route, method and status; status "none" where the connection ended before an answer.',
    labelNames: ['route', 'method', 'status'],
    registers,
  })
  const duration = new Histogram({
    name: 'firmlake_http_request_duration_seconds',
    help: 'From the head of a request to the end of its answer.',
    labelNames: ['route'],
    buckets: SECONDS,
    registers,
  })
  const bytes = new Counter({
    name: 'firmlake_http_response_bytes_total',
    help: 'Bytes sent, heads included.',
    labelNames: ['route'],
    registers,
  })
  const records = new Counter({
    name: 'firmlake_records_total',
    help: 'Records in answers to searches.',
    labelNames: ['content'],
    registers,
  })
  const throttled = new Counter({
    name: 'firmlake_http_throttled_total',
    help: 'Requests refused by a rate limit.',
    registers,
  })
  const inFlight = new Gauge({
    name: 'firmlake_http_requests_in_flight',
    help: 'Requests at work.',
    registers,
  })
  new Gauge({
    name: 'firmlake_snapshot',
    help: 'Number of the snapshot that is served.',
    registers,
    collect() {
      this.set(snapshot())
    },
  })
  return {
    contentType: registry.contentType,
    text: async () => `${await whole.metrics()}\n${await registry.metrics()}`,
    begun: () => inFlight.inc(),
    ended: ({ route, method, status, seconds, bytes: sent }) => {
      inFlight.dec()
      requests.inc({ route, method, status })
      duration.observe({ route }, seconds)
      bytes.inc({ route }, sent)
    },
    records: (content, count) => records.inc({ content }, count),
    throttled: () => throttled.inc(),
  }
}
