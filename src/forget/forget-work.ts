/** Shared by the steps of a forget: the ids it is about, an engine, and files of the lake where DuckDB can read them. */

import { join } from 'node:path'
import type { Snapshot } from '../core/partition.ts'
import type { Engine, Session } from '../lake/duckdb/engine.ts'
import { type PlaceOf, withFiles } from '../lake/files/fetch-tables.ts'
import { mainTables } from '../lake/tables/tables.ts'
import { HIDDEN_SCHEMA } from '../lake/views/current-versions.ts'
import type { ForgottenIds } from '../manifest/form/forgotten.ts'
import { type RewritingOptions, withRewritingSession } from '../run/rewriting-session.ts'
import { filesOfThisWork } from '../storage/check-files.ts'
import type { FileFacts, KnownFiles } from '../storage/storage.ts'

export interface ForgetWork {
  readonly lake: string
  readonly snapshot: Snapshot
  readonly ids: ForgottenIds
  /** Whether an id is to go as an entity of others' relations. */
  readonly isEntity: (id: bigint) => boolean
  readonly engine: Engine
  readonly session: Session
  /** Folder of this machine for copies of files and for what is being made. */
  readonly scratch: string
  readonly known: KnownFiles
  readonly localBytes: number
  readonly signal: AbortSignal | undefined
}

/** Ids of companies; of companies and persons. */
export const COMPANY_IDS = `${HIDDEN_SCHEMA}.forgotten_companies`
export const ENTITY_IDS = `${HIDDEN_SCHEMA}.forgotten_entities`

/** Files that one statement reads. */
export const FILES_AT_ONCE = 256

const INSERTED_AT_ONCE = 10_000

/** Makes a table of one column `id`. */
export const makeIdTable = async (session: Session, name: string, ids: Iterable<bigint>): Promise<void> => {
  await session.run(`CREATE OR REPLACE TABLE ${name} (id BIGINT)`)
  const all = [...ids]
  for (let at = 0; at < all.length; at += INSERTED_AT_ONCE) {
    const some = all.slice(at, at + INSERTED_AT_ONCE)
    await session.run(`INSERT INTO ${name} VALUES ${some.map((id) => `(${id})`).join(', ')}`)
  }
}

interface WorkOptions
  extends Omit<RewritingOptions, 'signal'>,
    Pick<ForgetWork, 'lake' | 'snapshot' | 'ids' | 'scratch' | 'localBytes' | 'signal'> {}

/** Opens what a forget works with, stopped by the signal. */
export const withForgetWork = <T>(
  { memoryBytes, threads, ...options }: WorkOptions,
  use: (work: ForgetWork) => Promise<T>,
): Promise<T> => {
  const { ids, scratch, signal } = options
  return withRewritingSession(
    { memoryBytes, threads, signal },
    join(scratch, 'spill'),
    async (session, engine) => {
      await makeIdTable(session, COMPANY_IDS, ids.companies)
      await makeIdTable(session, ENTITY_IDS, [...ids.companies, ...ids.persons])
      // The code that restores records asks which are superseded: here each version counts.
      for (const { content } of mainTables())
        await session.run(
          `CREATE TABLE ${HIDDEN_SCHEMA}.superseded_${content} (owner BIGINT, version INTEGER, is_gone BOOLEAN)`,
        )
      const isEntity = (id: bigint): boolean => ids.companies.has(id) || ids.persons.has(id)
      return use({ ...options, engine, session, isEntity, known: filesOfThisWork() })
    },
  )
}

let folders = 0

/** A folder of this machine that no other work has had, so that nothing that is kept by a path is of an earlier file. */
export const freshFolder = ({ scratch }: Pick<ForgetWork, 'scratch'>, name: string): string => {
  folders += 1
  return join(scratch, `${name}-${folders}`)
}

/** Brings files to where DuckDB can read them, each compared with its hash, for as long as `use` runs. */
export const withLakeFiles = <T>(
  { lake, scratch, known, signal }: Pick<ForgetWork, 'lake' | 'scratch' | 'known' | 'signal'>,
  files: readonly FileFacts[],
  use: (placeOf: PlaceOf) => Promise<T>,
): Promise<T> => {
  return withFiles(lake, files, freshFolder({ scratch }, 'files'), { known, signal }, use)
}
