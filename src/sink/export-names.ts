/** Names of exports among the runs of a database: each says of which lake and snapshot it is. */

import type { SnapshotHead } from '../core/partition.ts'

type NamedSnapshot = Pick<SnapshotHead, 'snapshot' | 'run'>

/** @param lake its id @param rest what else tells the export from others, without a hyphen */
export const exportName = (lake: string | null, { snapshot, run }: NamedSnapshot, rest: string): string =>
  `export-${[lake ?? 'none', snapshot, run, rest].join('-')}`

const EXPORT = /^export-([0-9a-f]{32})-(\d+)-(.+)-[^-]+$/

/** The snapshot that an export brought, and of which lake; `undefined` for other names. */
export const readExportName = (name: string): (NamedSnapshot & { readonly lake: string }) | undefined => {
  const [, lake, snapshot, run = ''] = EXPORT.exec(name) ?? []
  return lake === undefined ? undefined : { lake, snapshot: Number(snapshot), run }
}

/** A run, or the snapshot of an export, for people. */
export const shownText = (name: string): string => {
  const exported = readExportName(name)
  return exported === undefined ? `run "${name}"` : `snapshot ${exported.snapshot} of run "${exported.run}"`
}
