/** Rows of the suite as rows of the lake's tables: for sinks that know records by the owner of a row. */

import type { Sink, SinkRun } from '../../src/core/sink.ts'

/** The name of the column that says which record a row of `companies` belongs to. */
export const OWNER = 'internal_id'

/** A sink to which the suite's `id` is the owner. */
export const withOwner = <T extends Sink>(sink: T): T => ({
  ...sink,
  open: async (run: string) => {
    const opened = await sink.open(run)
    return {
      ...opened,
      write: (partition, table, rows) =>
        opened.write(
          partition,
          table,
          rows.select((from) => `SELECT id AS ${OWNER}, * EXCLUDE (id) FROM ${from}`),
        ),
    } satisfies SinkRun
  },
})
