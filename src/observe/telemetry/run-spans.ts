/** A span for each stage of a run: `run`, in it `source`, `decode`, `load`, `sink` and `commit`. */

import type { Attributes, Context, Span, Tracer } from '@opentelemetry/api'
import { failureOf } from '../../core/errors.ts'
import type { Stage, StageEnd, StageOutcome } from '../../core/stages.ts'
import type { Variables } from '../observer.ts'

type Api = typeof import('@opentelemetry/api')

const attributesOf = ({ stage: _, ...facts }: Stage): Attributes =>
  Object.fromEntries(Object.entries(facts).map(([name, value]) => [`firmlake.${name}`, value]))

const outcomeAttributes = ({ committed, ...facts }: StageOutcome): Attributes => ({
  ...Object.fromEntries(Object.entries(facts).map(([name, value]) => [`firmlake.${name}`, value])),
  ...(committed && { 'firmlake.partitions': committed.partitions.length }),
  ...(committed?.snapshot && { 'firmlake.snapshot': committed.snapshot.snapshot }),
})

/** @param env a scheduler's own span may stand in `TRACEPARENT` */
export const runSpans = (
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
