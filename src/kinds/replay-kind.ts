/** Quarantined lines as a kind of job: the files that a run was begun with. */

import { ToolkitError } from '../core/errors.ts'
import type { JobKind } from '../run/job-kind.ts'
import { notResumable } from '../run/opened-job.ts'
import type { ReplayJob } from '../run/run-plan.ts'
import { quarantineFiles, quarantineSources } from './quarantine.ts'

export const replayKind: JobKind<ReplayJob> = {
  prepare: async () => ({
    cut: async () => {
      throw new ToolkitError('USAGE', 'Cannot share a replay: a quarantine is loaded by one process')
    },
  }),
  open: async ({ lake, run }, { files }, { blockBytes }) => {
    const waiting = new Map((await quarantineFiles({ lake })).map((file) => [file.sha256, file]))
    const found = files.flatMap((sha256) => waiting.get(sha256) ?? [])
    if (found.length < files.length) throw notResumable(run, 'another run already replayed these lines')
    return { sources: quarantineSources(found, blockBytes) }
  },
}
