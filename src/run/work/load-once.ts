/** Loads a source that can be read only once. Its hash, by which it is known, is there when all of it is loaded. */

import { createHash } from 'node:crypto'
import type { Fingerprint, Source } from '../../core/source.ts'
import { loadSource, type SourceRun } from './load-source.ts'
import type { Finished } from './partition-entry.ts'
import type { SourceOutcome } from './source-results.ts'

/** @returns the source, and length and hash of what was read of it */
const hashWhileReading = (source: Source): readonly [Source, () => Fingerprint] => {
  const hash = createHash('sha256')
  let bytes = 0
  const open: Source['open'] = async function* (signal) {
    for await (const chunk of source.open(signal)) {
      hash.update(chunk)
      bytes += chunk.length
      yield chunk
    }
  }
  return [{ ...source, open }, () => ({ bytes, sha256: hash.copy().digest('hex') })]
}

/** Records its partitions at its end, unless it is known then. */
export const loadOnce = async (source: Source, index: number, run: SourceRun): Promise<SourceOutcome> => {
  const { pool, known } = run
  await pool.waitForSuccess()
  const [hashed, fingerprintOf] = hashWhileReading(source)
  const unkept: Finished[] = []
  const keep = async (finished: Finished): Promise<void> => void unkept.push(finished)
  const outcome = await loadSource(hashed, index, undefined, { ...run, keep })
  if (outcome.kind !== 'loaded') return outcome
  await pool.waitForSuccess()
  const fingerprint = fingerprintOf()
  const reason = await known.reasonToSkip(source, fingerprint, [outcome.content])
  if (reason !== undefined) return { kind: 'skipped', reason }
  for (const { partition, ...one } of unkept)
    await run.keep({ ...one, partition: { ...partition, source: { ...partition.source, ...fingerprint } } })
  known.add(source, fingerprint, outcome.content)
  return outcome
}
