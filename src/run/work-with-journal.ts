/**
 * The work of a run that one process owns: it records each partition in the run's journal, so that an interrupted run
 * resumes after its last finished one. The journal then ends with what became of each source.
 */

import { checkStaged } from '../commit/files-of-run.ts'
import type { Source } from '../core/source.ts'
import { openJournal, readJournal } from '../manifest/runs/journal.ts'
import type { RunLease } from '../manifest/runs/run-lease.ts'
import { newestRoot } from '../manifest/snapshots/snapshots.ts'
import { SourceIndex } from '../manifest/snapshots/source-index.ts'
import type { OpenedJob } from './opened-job.ts'
import { type LoadSourcesOptions, type LoadSourcesParts, loadSources } from './work/load-sources.ts'

export interface JournaledWork extends Omit<LoadSourcesOptions, 'run' | 'record' | 'attempt'> {
  readonly lease: RunLease
  readonly sources: readonly Source[]
  /** Asked for when all sources are loaded. */
  readonly pulls?: OpenedJob['pulls']
  /** Loads sources that the lake holds already. @default false */
  readonly again?: boolean | undefined
}

/** Loads all sources. @throws {ToolkitError} INTERRUPTED, and whatever the parts throw */
export const workWithJournal = async (
  tools: Omit<LoadSourcesParts, 'sources' | 'inLake'>,
  { lease, sources, pulls, again = false, ...options }: JournaledWork,
): Promise<void> => {
  const { lake, run } = lease
  const { signal, onEvent } = options
  const entries = await readJournal(lake, run)
  const { whole, damaged } = await checkStaged(lease, entries, signal)
  onEvent?.({ kind: 'started', run, resumed: lease.number > 1, finished: whole.length })
  for (const { id } of damaged) onEvent?.({ kind: 'again', partition: id })
  const inLake = again ? null : new SourceIndex(lake, await newestRoot(lake))
  const journal = await openJournal(lease)
  try {
    const record = { finished: whole, keep: journal.append }
    const units = await loadSources({ ...tools, sources, inLake }, { ...options, run, record })
    await journal.finish({ units, pulls: pulls?.() ?? [] })
  } finally {
    await journal.close()
  }
}
