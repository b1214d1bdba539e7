/**
 * A year of nights in one process: `nightly` against a served lake in which companies come, change, are restated, leave and
 * break, persons change, unknown names appear, whose answers are refused, sent away or damaged; nights are killed and find the
 * disk full; loads of many restated figures are held back, then released, discarded, replaced or waited for. The lake is
 * compacted, published and swept, some of it is forgotten; another takes no persons. Every fourth night all of its rows are compared with the generator's; at the end the report must tell what
 * happened. A case is a night; a week ends with a `sync`, and twice in four weeks all companies come once more.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Campaign } from './campaign.ts'
import { PlayedYear } from './year-play.ts'

export const campaign: Campaign = {
  about:
    'a year of nights leaves exactly what its generator says, no leftover, flat memory, and a report that tells its story',
  wholeCases: 365,
  run: async (options) => {
    const folder = await mkdtemp(join(tmpdir(), 'firmlake-year-'))
    try {
      await using year = await PlayedYear.open(folder, options)
      return await year.play()
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
}
