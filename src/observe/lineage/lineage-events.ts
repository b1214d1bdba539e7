/** Events of OpenLineage for the attempts at a run. Pure. Source: openlineage.io/spec/2-0-2. */

import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import { failureOf } from '../../core/errors.ts'
import { absoluteAddress } from '../../core/lake-address.ts'
import type { CommittedWork, RunStage } from '../../core/stages.ts'
import { VERSION } from '../../support/tool-version.ts'
import { inputDatasets, outputDatasets } from './datasets.ts'
import { EVENT_SCHEMA, facet, PRODUCER } from './facet.ts'

/** An attempt at a run, whoever names it. */
export type RunAttempt = Omit<RunStage, 'stage'>

/** Milliseconds of a run id's time: `20261121T094500123Z-1f9a2c`. */
const timeOf = (run: string): number => {
  const [, day = '', time = ''] = /^(\d{8})T(\d{9})Z/.exec(run) ?? []
  const [year, month, date] = [day.slice(0, 4), day.slice(4, 6), day.slice(6)].map(Number)
  const [hour, minute, ms] = [time.slice(0, 2), time.slice(2, 4), time.slice(4)].map(Number)
  return Date.UTC(year ?? 0, (month ?? 1) - 1, date, hour, minute, 0, ms)
}

/** A UUID of version 7 with the run's time; the same in every process that speaks of the attempt. */
export const lineageRunId = ({ lake, run, attempt }: RunAttempt): string => {
  const hash = createHash('sha256')
    .update(`${absoluteAddress(lake)}\n${run}\n${attempt}`)
    .digest()
  hash.writeUIntBE(timeOf(run), 0, 6)
  hash.writeUInt8(0x70 | (hash.readUInt8(6) & 0x0f), 6)
  hash.writeUInt8(0x80 | (hash.readUInt8(8) & 0x3f), 8)
  const hex = hash.toString('hex', 0, 16)
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

const event = (
  eventType: string,
  attempt: RunAttempt,
  namespace: string,
  { now, runFacets = {}, ...data }: { now: Date; runFacets?: object; inputs?: unknown; outputs?: unknown },
): object => ({
  ...{ eventType, eventTime: now.toISOString(), producer: PRODUCER, schemaURL: EVENT_SCHEMA },
  run: {
    runId: lineageRunId(attempt),
    facets: {
      processing_engine: facet('ProcessingEngineRunFacet', { name: 'firmlake', version: VERSION }),
      ...runFacets,
    },
  },
  job: {
    namespace,
    name: `${basename(attempt.lake.replace(/\/+$/, ''))}.${attempt.pipeline}`,
    facets: {
      jobType: facet('JobTypeJobFacet', {
        ...{ processingType: 'BATCH', integration: 'FIRMLAKE', jobType: attempt.pipeline },
      }),
    },
  },
  inputs: [],
  outputs: [],
  ...data,
})

export const startEvent = (attempt: RunAttempt, namespace: string, now: Date): object =>
  event('START', attempt, namespace, { now })

/** @param committed what the run has made visible; absent where it committed nothing */
export const completeEvent = (
  attempt: RunAttempt,
  namespace: string,
  now: Date,
  committed: CommittedWork | undefined,
): object => {
  const { lake } = attempt
  const data = committed && {
    inputs: inputDatasets(committed, lake),
    outputs: outputDatasets(committed, lake),
  }
  return event('COMPLETE', attempt, namespace, { now, ...data })
}

/** `ABORT` for a run that was interrupted and can be resumed, `FAIL` for others. */
export const failEvent = (attempt: RunAttempt, namespace: string, now: Date, error: unknown): object => {
  const failure = failureOf(error)
  if (failure === undefined) return event('ABORT', attempt, namespace, { now })
  const message = `${failure.code}: ${failure.message}`
  const errorMessage = facet('ErrorMessageRunFacet', { message, programmingLanguage: 'TypeScript' })
  return event('FAIL', attempt, namespace, { now, runFacets: { errorMessage } })
}
