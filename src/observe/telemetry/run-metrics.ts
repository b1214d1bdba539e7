/** Counters of what runs load, and how long runs and their stages take. Counted where a stage ends, never by row. */

import type { Meter } from '@opentelemetry/api'
import { failureOf } from '../../core/errors.ts'
import type { Stage, StageEnd } from '../../core/stages.ts'

/** `done`, `stopped`, or the code of what it failed with. */
const endOf = (error: unknown): string =>
  error === undefined ? 'done' : (failureOf(error)?.code ?? 'INTERRUPTED')

/** Bounds of buckets, in seconds: from a block to a night. */
const BOUNDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 1800, 3600, 7200, 14_400]

export const runMetrics = (meter: Meter): ((stage: Stage) => StageEnd) => {
  const counter = (name: string, unit: string, description: string) =>
    meter.createCounter(`firmlake.${name}`, { unit, description })
  const runs = counter('runs', '{run}', 'Runs that ended.')
  const records = counter('records', '{record}', 'Records loaded.')
  const quarantined = counter('quarantined', '{line}', 'Lines that went to the quarantine.')
  const filtered = counter('filtered', '{record}', 'Records left out, as the load was told to.')
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
