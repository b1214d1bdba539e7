/** The views and macros that a DuckDB file gets above its tables: those of a lake, as far as its tables and facts reach. */

import type { SinkContext } from '../core/sink.ts'
import type { Facts } from '../lake/views/fact-columns.ts'
import { layerOnTables } from '../lake/views/lake-sql.ts'
import { fitsIntoFile } from '../manifest/snapshots/lake-file.ts'
import { readFactsOf } from '../manifest/snapshots/read-facts.ts'
import type { SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'

const readAll = async (lake: string, root: SnapshotRoot): Promise<Partial<Facts>> => {
  const read = readFactsOf(lake, root)
  const rates = await read('rates')
  if (!fitsIntoFile(root)) return { rates }
  return {
    rates,
    snapshots: await read('snapshots'),
    partitions: await read('partitions'),
    sources: await read('sources'),
    drift: await read('drift'),
    pulls: await read('pulls'),
  }
}

/** @param root the snapshot whose rates and manifest the file shows; read when a target asks for them, once */
export const layerOnTarget = (lake: string, root: SnapshotRoot): NonNullable<SinkContext['layer']> => {
  let facts: Promise<Partial<Facts>> | undefined
  return async (names) => {
    facts ??= readAll(lake, root)
    return layerOnTables(await facts, names)
  }
}
