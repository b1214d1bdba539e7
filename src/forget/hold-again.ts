/**
 * The last step of a forget for the load that is held back: behind the commit its journals are replaced by those without the
 * forgotten, and it is held back once more, upon the lake as it is then.
 */

import { discardFiles, discardLoaded } from '../commit/files-of-run.ts'
import type { KeptResult } from '../core/checks.ts'
import { ToolkitError } from '../core/errors.ts'
import { loadPath, runPath } from '../lake/files/layout.ts'
import { STORED_TABLES } from '../lake/tables/past-tables.ts'
import { KEPT_RESULT } from '../manifest/form/entry-form.ts'
import { createRunFile, type JobOfRun, readRunFile } from '../manifest/runs/run-files.ts'
import { PLAN_FILE, rebaseRun } from '../manifest/runs/run-lease.ts'
import { removeRunFolder } from '../manifest/runs/runs.ts'
import { type HeldSnapshot, ownParts, readHeld, removeHeld } from '../manifest/snapshots/held.ts'
import { readAllListed } from '../manifest/snapshots/snapshot-root.ts'
import { storageOf } from '../storage/open-storage.ts'
import { anyText, fits, list, objectOf, optional } from '../support/json-form.ts'

/** The end of a load that is held back, once the forget is committed. */
export interface HeldRewrite {
  readonly run: string
  /** Journals of the run by their paths; absent where it is given up. */
  readonly journals?: readonly { readonly path: string; readonly text: string }[] | undefined
  /** Results of its checks, which may name them by ids. */
  readonly results?: readonly KeptResult[] | undefined
}

const FILE = { name: 'held.json', what: 'load that is held back' }
const FORM = objectOf({
  run: anyText,
  journals: optional(list(objectOf({ path: anyText, text: anyText }))),
  results: optional(list(KEPT_RESULT)),
})
const isRewrite = (value: unknown): value is HeldRewrite => fits(FORM, value)

/** Notes in the folder of a forget how the load ends. @throws {ToolkitError} `DISK_FULL`, `WRITE_FAILED` */
export const noteRewrite = (forget: JobOfRun, rewrite: HeldRewrite): Promise<void> =>
  createRunFile(forget, FILE, rewrite)

/** Files of its folder that a release needs: its plan, and what tells of its windows. */
export const staysInRun = (name: string): boolean => !name.includes('/') && name.endsWith('.json')

/** Commits the load with checks that hold it back. */
export type CommitHeld = (lake: string, held: HeldSnapshot) => Promise<unknown>

/** A later call of the forget may do it. */
const MAY_PASS: ReadonlySet<string> = new Set(['DISK_FULL', 'WRITE_FAILED', 'STORAGE_FAILED', 'INTERRUPTED'])

const giveUp = async (lake: string, held: HeldSnapshot): Promise<void> => {
  const { partitions } = await readAllListed(lake, held.root).catch(() => ({ partitions: [] }))
  await removeRunFolder(lake, held.run)
  await discardLoaded(lake, held.run)
  await discardFiles(
    lake,
    partitions.filter(({ run }) => run === held.run).flatMap(({ files }) => files),
  )
  await removeHeld(lake)
}

/** Removes what the load had before it was written again. */
const removeBefore = async (lake: string, before: HeldSnapshot, held: HeldSnapshot): Promise<void> => {
  const storage = storageOf(lake)
  const { run } = held
  const { partitions, files } = await readAllListed(lake, held.root)
  const kept = new Set([...partitions.flatMap((one) => one.files), ...files].map(({ path }) => path))
  const parts = new Set(ownParts(held))
  const old: string[] = ownParts(before).filter((path) => !parts.has(path))
  for (const { name } of STORED_TABLES)
    for (const { path } of await storage.list(loadPath(name, run))) if (!kept.has(path)) old.push(path)
  if (old.length > 0) await storage.remove(old)
}

/**
 * Holds the load back once more, behind the commit of the forget whose folder tells what becomes of it. Again, where that was
 * stopped.
 *
 * @returns what became of it; `undefined` where none was held back
 * @throws {ToolkitError} `DISK_FULL`, `WRITE_FAILED`, `STORAGE_FAILED`, `INTERRUPTED`
 */
export const holdAgain = async (
  lake: string,
  { run: forget, snapshot }: { readonly run: string; readonly snapshot: number },
  commit: CommitHeld,
): Promise<'kept' | 'removed' | undefined> => {
  const rewrite = await readRunFile({ lake, run: forget }, FILE, isRewrite)
  const held = await readHeld(lake)
  if (rewrite === undefined || held?.run !== rewrite.run) return undefined
  const { journals } = rewrite
  const storage = storageOf(lake)
  if (journals === undefined) {
    await giveUp(lake, held)
    return 'removed'
  }
  for (const { path, text } of journals) await storage.replace(path, text)
  const folder = `${runPath(held.run)}/`
  const kept = new Set([...journals.map(({ path }) => path), `${folder}${PLAN_FILE}`])
  const others = (await storage.list(runPath(held.run))).filter(
    ({ path }) =>
      !kept.has(path) && !staysInRun(path.slice(folder.length)) && !path.endsWith('journal.jsonl'),
  )
  await storage.remove(others.map(({ path }) => path))
  await rebaseRun(lake, held.run, snapshot)
  const again = await commit(lake, { ...held, results: rewrite.results }).catch((error: unknown) => error)
  const code = again instanceof ToolkitError ? again.code : ''
  if (MAY_PASS.has(code)) throw again
  const now = code === 'LOAD_HELD' ? await readHeld(lake) : null
  if (now === null) {
    await giveUp(lake, held)
    return 'removed'
  }
  await removeBefore(lake, held, now)
  return 'kept'
}
