/**
 * What an upgrade leaves until the next commit, so that it can be taken back: `_upgrade/state-<n>.json`, of which the
 * highest counts, and below `_upgrade/before` what stood where it writes. Whoever works on it creates the next state, so
 * of two at once exactly one does.
 */

import { ToolkitError } from '../core/errors.ts'
import { UPGRADE_FOLDER } from '../lake/lake/layout.ts'
import { storageOf } from '../storage/open-storage.ts'
import type { StoredFile } from '../storage/storage.ts'
import { sha256Of } from '../support/hash.ts'
import { anyText, count, list, misfitOf, oneOf, optional, sha256, shapeOf } from '../support/json-form.ts'
import { seal, unseal } from '../support/sealed-text.ts'
import type { Problem } from './findings.ts'
import { type LivenessRule, runState } from './run-lease.ts'
import { newestRoot } from './snapshots.ts'

/** `saving`: nothing is changed yet. `restored`: all is as it was, but for snapshots that are to go. */
const PHASES = ['saving', 'changing', 'done', 'back', 'restored'] as const
export type UpgradePhase = (typeof PHASES)[number]

/** A file that stood there before; with its hash where a copy was kept: the others are never changed. */
export interface FileBefore {
  readonly path: string
  readonly bytes: number
  readonly sha256?: string
}

export interface UpgradeState {
  readonly phase: UpgradePhase
  /** Runs that have worked on it: what they have made is the upgrade's. */
  readonly runs: readonly string[]
  readonly tool: string
  /** The newest snapshot before: its number, its format, and the hash of its file. */
  readonly from: { readonly snapshot: number; readonly format: number; readonly sha256: string }
  readonly files: readonly FileBefore[]
}

const STATE = shapeOf<UpgradeState>({
  phase: oneOf(PHASES),
  runs: list(anyText),
  tool: anyText,
  from: shapeOf<UpgradeState['from']>({ snapshot: count, format: count, sha256 }),
  files: list(shapeOf<FileBefore>({ path: anyText, bytes: count, sha256: optional(sha256) })),
})

/** A state, and the number of its file. */
export interface NumberedState extends UpgradeState {
  readonly number: number
}

export const BEFORE_FOLDER = `${UPGRADE_FOLDER}/before`
export const beforePath = (path: string): string => `${BEFORE_FOLDER}/${path}`
const statePath = (number: number): string => `${UPGRADE_FOLDER}/state-${number}.json`
const numberOf = (name: string): number => Number(/^state-([1-9]\d*)\.json$/.exec(name)?.[1] ?? 0)
const stateText = ({ phase, runs, tool, from, files }: UpgradeState): string =>
  `${seal(JSON.stringify({ phase, runs, tool, from, files }))}\n`

/** What was left of an upgrade; `null` where nothing was. @throws {ToolkitError} `LAKE_DAMAGED` */
export const readUpgrade = async (lake: string): Promise<NumberedState | null> => {
  const storage = storageOf(lake)
  const number = Math.max(0, ...(await storage.entries(UPGRADE_FOLDER)).map(({ name }) => numberOf(name)))
  const bytes = number === 0 ? null : await storage.read(statePath(number))
  if (bytes === null) return null
  const read = unseal(bytes)
  if (read.kind === 'sealed' && misfitOf(STATE, read.value, '') === null)
    return { ...STATE(read.value, ''), number }
  const path = statePath(number)
  throw new ToolkitError(
    'LAKE_DAMAGED',
    `Cannot read "${path}": it is not what was written; where the upgrade need not be taken back, remove the folder "${UPGRADE_FOLDER}"`,
    { lake, path },
  )
}

/**
 * Makes a state the one that counts, with the run of the caller among its runs.
 *
 * @param before what counts now
 * @throws {ToolkitError} `RUN_LIVE` when another process works on it, or was first
 */
export const takeUpgrade = async (
  lake: string,
  run: string,
  before: NumberedState | null,
  state: UpgradeState,
  judge: LivenessRule,
): Promise<NumberedState> => {
  const taken = (): ToolkitError =>
    new ToolkitError(
      'RUN_LIVE',
      `Cannot upgrade lake "${lake}", or take an upgrade back: another process is doing so`,
      { lake },
    )
  const last = before?.runs.at(-1)
  const found = last === undefined ? null : await runState(lake, last, judge)
  if (last !== run && found !== null && found.state !== 'gone') throw taken()
  const next = { ...state, runs: [...state.runs, run], number: (before?.number ?? 0) + 1 }
  if (!(await storageOf(lake).create(statePath(next.number), stateText(next)))) throw taken()
  if (before !== null) await storageOf(lake).remove([statePath(before.number)])
  return next
}

/** Writes down how far it is. Only for whoever has taken it. */
export const writePhase = async (
  lake: string,
  state: NumberedState,
  change: Partial<Pick<UpgradeState, 'phase' | 'files'>>,
): Promise<NumberedState> => {
  const next = { ...state, ...change }
  await storageOf(lake).replace(statePath(state.number), stateText(next))
  return next
}

/** Removes all that was left, the state that counts at the very end. */
export const discardUpgrade = async (lake: string): Promise<void> => {
  const storage = storageOf(lake)
  const entries = await storage.entries(UPGRADE_FOLDER)
  if (entries.length === 0) return
  for (const { name, kind } of entries)
    if (kind === 'folder') await storage.removeFolder(`${UPGRADE_FOLDER}/${name}`)
  const files = entries.filter(({ kind }) => kind === 'file').map(({ name }) => name)
  for (const name of files.sort((a, b) => numberOf(a) - numberOf(b)))
    await storage.remove([`${UPGRADE_FOLDER}/${name}`])
  await storage.removeFolder(UPGRADE_FOLDER)
}

/** What is left of an upgrade that something was committed after. It is of no use any more. */
export const staleUpgrade = async (lake: string, judge: LivenessRule): Promise<readonly StoredFile[]> => {
  const files = await storageOf(lake).list(UPGRADE_FOLDER)
  if (files.length === 0) return []
  const state = await readUpgrade(lake)
  if (state === null) return files
  const newest = await newestRoot(lake)
  const last = state.runs.at(-1) ?? ''
  const isAtWork = ((await runState(lake, last, judge))?.state ?? 'gone') !== 'gone'
  const isLast = newest?.snapshot === state.from.snapshot || state.runs.includes(newest?.run ?? '')
  return isAtWork || isLast || state.phase === 'back' || state.phase === 'restored' ? [] : files
}

/** What is wrong with what an upgrade has left. */
export const checkUpgrade = async (lake: string): Promise<readonly Problem[]> => {
  try {
    const problems: Problem[] = []
    const state = await readUpgrade(lake)
    // Its copies go before the state does.
    const files = state === null || state.phase === 'restored' ? [] : state.files
    for (const { path, sha256: expected } of files) {
      const bytes = expected === undefined ? undefined : await storageOf(lake).read(beforePath(path))
      if (bytes === null)
        problems.push({ path: beforePath(path), problem: 'missing', detail: 'the file is missing' })
      else if (bytes !== undefined && sha256Of(bytes) !== expected)
        problems.push({
          path: beforePath(path),
          problem: 'changed',
          detail: 'it is not what stood there before the upgrade',
        })
    }
    return problems
  } catch (error) {
    if (!(error instanceof ToolkitError) || error.code !== 'LAKE_DAMAGED') throw error
    return [{ path: String(error.context.path), problem: 'changed', detail: 'it is not what was written' }]
  }
}
