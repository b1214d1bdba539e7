/**
 * A byte of one file of a lake is flipped, a file is cut, or a data file is another Parquet file; then every command
 * reads the lake. An answer like that of the whole lake is right, and so is an error; `verify` names the file.
 */

import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ToolkitError } from '../../src/core/errors.ts'
import { verify } from '../run/batch-bench.ts'
import type { Campaign, CampaignOptions } from './campaign.ts'
import { type Damage, type DamagedLake, inflict, makeDamagedLake } from './damaged-lake.ts'
import { type Answer, BY_COMMAND_LINE, BY_LIBRARY, COMMANDS, type CommandName } from './lake-answers.ts'

/** Of 735 cases: 500 flips (100 of them with the time of writing restored), 200 cuts, 35 swapped files. */
const WHOLE_CASES = 735
/** 40 of them are asked by the command line, which takes longest; the short form has none of these. */
const COMMAND_LINE_EVERY = 18

type Outcome = 'equal' | 'error' | 'unnamed error' | 'wrong'

interface Case {
  readonly kind: string
  readonly path: string
  readonly damage: Damage
  readonly answers: Readonly<Record<CommandName, Answer>>
}

const pick = <T>(from: readonly T[], random: () => number): T => {
  const found = from[Math.floor(random() * from.length)]
  if (found === undefined) throw new Error('Cannot pick from nothing')
  return found
}

const chooseCase = async (
  at: number,
  { lake, files }: DamagedLake,
  { random }: CampaignOptions,
): Promise<Case> => {
  // Whatever the number of cases, the shares stay.
  const turn = at % 21
  const swapped = turn === 20
  const kinds = Object.keys(files).filter((kind) => (files[kind] ?? []).length > 0)
  const kind = swapped ? 'data' : (kinds[at % kinds.length] ?? 'data')
  const path = pick(files[kind] ?? [], random)
  const { size } = await stat(join(lake, path))
  const flip = { kind: 'flip', at: Math.floor(random() * size), bit: Math.floor(random() * 8) } as const
  const byCommandLine = at % COMMAND_LINE_EVERY === COMMAND_LINE_EVERY - 1
  const damage: Damage = swapped
    ? { kind: 'swap', with: pick(files.data ?? [], random), sameLength: random() < 0.5 }
    : turn % 10 >= 7
      ? { kind: 'cut', to: Math.floor(random() * size) }
      : { ...flip, timesKept: turn % 5 === 0 }
  return { kind, path, damage, answers: byCommandLine ? BY_COMMAND_LINE : BY_LIBRARY }
}

const outcomeOf = async (answer: Answer, folder: string, expected: string): Promise<Outcome> => {
  try {
    return (await answer(folder)) === expected ? 'equal' : 'wrong'
  } catch (error) {
    return error instanceof ToolkitError ? 'error' : 'unnamed error'
  }
}

/** What `verify` says of a file: named, or only noted as one that a crash may leave so too. */
const isNamed = async (lake: string, path: string): Promise<boolean> => {
  const { problems, notes } = await verify(lake)
  return problems.some((one) => one.path === path) || notes.some((note) => note.includes(`"${path}"`))
}

/** A cut of a journal at the end of a line is what a crash leaves: the next partition is loaded again. */
const isInnocent = ({ path, damage }: Case): boolean =>
  damage.kind === 'cut' && path.endsWith('journal.jsonl')

/** What the commands answer of the whole lake, before it is damaged; asked once. */
const learnWhole = async (
  { answers }: Case,
  { folder, restore }: DamagedLake,
  expected: Map<Answer, string>,
) => {
  for (const command of COMMANDS) {
    if (expected.has(answers[command])) continue
    expected.set(answers[command], await answers[command](folder))
    await restore()
  }
}

const runCases = async (
  damaged: DamagedLake,
  options: CampaignOptions,
): Promise<{ readonly wrong: string[]; readonly figures: Map<string, number> }> => {
  const { folder, lake } = damaged
  const wrong: string[] = []
  const figures = new Map<string, number>()
  const count = (name: string): unknown => figures.set(name, (figures.get(name) ?? 0) + 1)
  const expected = new Map<Answer, string>()
  for (let at = 0; at < options.cases; at += 1) {
    await damaged.restore()
    const one = await chooseCase(at, damaged, options)
    await learnWhole(one, damaged, expected)
    const { kind, path, damage, answers } = one
    const name = `case ${at}: ${kind} "${path}" ${JSON.stringify(damage)}`
    // This machine has read the whole lake before.
    if (damage.kind === 'flip' && damage.timesKept) await answers.query(folder)
    if (!(await inflict(join(lake, path), damage, lake))) continue
    count(`${damage.kind}s`)
    count(kind)
    if (answers === BY_COMMAND_LINE) count('by the command line')
    if (!(await isNamed(lake, path)) && !isInnocent(one)) wrong.push(`${name}: verify does not name it`)
    for (const command of COMMANDS) {
      const answer = answers[command]
      const outcome = await outcomeOf(answer, folder, expected.get(answer) ?? '')
      count(`${command}: ${outcome}`)
      if (outcome === 'wrong') wrong.push(`${name}: ${command} answers wrongly`)
    }
    if (at % 10 === 9) options.log(`${at + 1} of ${options.cases} cases, ${wrong.length} wrong`)
  }
  return { wrong, figures }
}

/** What was written just now is remembered as if it were old: else each case would have to wait for seconds. */
const withLaterClock = async <T>(work: () => Promise<T>): Promise<T> => {
  const { now } = Date
  Date.now = () => now() + 60_000
  try {
    return await work()
  } finally {
    Date.now = now
  }
}

export const campaign: Campaign = {
  about: 'no command answers wrongly from a damaged lake, and verify names the file',
  wholeCases: WHOLE_CASES,
  run: async (options) => {
    const folder = await mkdtemp(join(tmpdir(), 'firmlake-damage-'))
    const before = process.env.FIRMLAKE_WORK_DIR
    process.env.FIRMLAKE_WORK_DIR = join(folder, 'work')
    try {
      const damaged = await makeDamagedLake(folder)
      const { wrong, figures } = await withLaterClock(() => runCases(damaged, options))
      return { cases: options.cases, wrong, figures: Object.fromEntries([...figures].sort()) }
    } finally {
      if (before === undefined) delete process.env.FIRMLAKE_WORK_DIR
      else process.env.FIRMLAKE_WORK_DIR = before
      await rm(folder, { recursive: true, force: true })
    }
  },
}
