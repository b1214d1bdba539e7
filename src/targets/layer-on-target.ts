/** The views and macros that a DuckDB file gets above its tables: those of a lake, as far as its tables and facts reach. */

import type { SinkContext } from '../core/sink.ts'
import { FACT_NAMES, type FactName } from '../lake/views/lake-facts.ts'
import { layerOnTables } from '../lake/views/lake-sql.ts'
import { fitsIntoFile } from '../manifest/snapshots/lake-file.ts'
import { readFactsOf } from '../manifest/snapshots/read-facts.ts'
import type { SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'

/** @param root the snapshot whose rates and manifest the file shows; read when a target asks for them */
export const layerOnTarget = (lake: string, root: SnapshotRoot): NonNullable<SinkContext['layer']> => {
  const facts = readFactsOf(lake, root)
  const known: readonly FactName[] = fitsIntoFile(root) ? FACT_NAMES : ['rates']
  return (names) => layerOnTables(facts, known, names)
}
