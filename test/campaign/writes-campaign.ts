/** Every writing call of small pieces of work fails once: with a full disk, with an I/O error, or half done. */

import { rm } from 'node:fs/promises'
import { cli } from '../cli/run-cli.ts'
import {
  armFaults,
  disarmFaults,
  openFailingWrites,
  type PlannedFault,
  WRITE_FAULTS,
} from '../support/failing-writes.ts'
import type { Campaign, CampaignOptions, CampaignResult } from './campaign.ts'
import type { WriteOutcome } from './child-writes.ts'
import { DisturbedChild } from './disturbed-child.ts'
import { DisturbedWork, kindsOf, shuffled } from './disturbed-work.ts'
import { WRITE_OPERATIONS, type WriteOperationName } from './write-operations.ts'

/** A process that fails for the rest of its life is not asked for more than so many cases. */
const CASES_PER_CHILD = 12
/** Of each so many cases one goes through the command line. */
const COMMAND_LINE_EVERY = 60

/** What each kind of failure must be called. A short write is no failure: the rest is written by the next call. */
const ALLOWED: Readonly<Record<string, string>> = { ENOSPC: 'DISK_FULL', EIO: 'WRITE_FAILED' }

/**
 * DuckDB ends the process where it cannot even take back a failed commit: a disk on which nothing can be written or
 * cut any more. Nothing half done is to be seen then either.
 */
const mayEnd = ({ kind, once }: PlannedFault): boolean => kind === 'EIO' && !once

/** What is gone when the work is done need not be on the disk. */
const ASIDE = /\/(spill|aside)\//

interface Case {
  readonly name: WriteOperationName
  readonly fault: PlannedFault
}

const textOf = ({ name, fault }: Case): string =>
  `${name}: ${fault.kind} at call ${fault.nth}${fault.once ? '' : ' and all later ones'}`

const allCases = ({ grounds }: DisturbedWork): Case[] =>
  [...grounds].flatMap(([name, { calls }]) =>
    WRITE_FAULTS.flatMap((kind) =>
      [true, false].flatMap((once) =>
        Array.from({ length: calls[kind] }, (_, at) => ({
          name,
          fault: { kind, once, nth: at + 1 },
        })),
      ),
    ),
  )

const judge = async (work: DisturbedWork, one: Case, lake: string, outcome: WriteOutcome): Promise<void> => {
  const { fault } = one
  const { code, message, failed, call, noViews } = outcome
  const say = (what: string): void => {
    work.wrong.push(`${textOf(one)} (${call.replace(lake, '')}), ended with ${code}: ${what}`)
  }
  work.count(failed === 0 ? 'not reached' : `${fault.kind} ended with ${code}`)
  if (code !== 'done' && code !== ALLOWED[fault.kind] && !(code === 'ENDED' && mayEnd(fault))) say(message)
  // A commit stands without the views in the lake's root, and says so.
  if (code === 'done' && /^f(data)?sync /.test(call) && !ASIDE.test(call) && noViews === undefined)
    say('a failed fsync was ignored')
  await work.judge(one.name, lake, code === 'done', say).catch((error: unknown) => say(String(error)))
}

/** Some cases in a process of their own; what they left is looked at when it has ended. */
const runSome = async (work: DisturbedWork, cases: readonly Case[]): Promise<void> => {
  const child = new DisturbedChild()
  const came: { readonly one: Case; readonly lake: string; readonly outcome: WriteOutcome }[] = []
  for (const one of cases) {
    const lake = await work.lakeFor(one.name)
    const outcome = await child.run(work.task(one.name, one.fault, lake))
    came.push({ one, lake, outcome })
    if (outcome.code === 'ENDED' || outcome.code === 'UNCAUGHT') break
  }
  await child.end()
  for (const { one, lake, outcome } of came) {
    await judge(work, one, lake, outcome)
    await rm(lake, { recursive: true, force: true })
  }
  if (came.length < cases.length) await runSome(work, cases.slice(came.length))
}

/** Through the command line: its exit code and its words. */
const runCommand = async (work: DisturbedWork, fault: PlannedFault): Promise<void> => {
  const faults = openFailingWrites()
  if ('missing' in faults) throw new Error(faults.missing)
  const ground = work.ground('convert')
  const lake = await work.lakeFor('convert')
  const { folder, paths } = work.batches
  armFaults(faults.control, lake, fault)
  const args = ['convert', ...paths.slice(2), '--lake', lake, '--max-quarantined', '50%', '--json']
  const { code, stderr } = await cli(args, { env: faults.env, cwd: folder })
  const { failed, call } = disarmFaults(faults.control)
  faults.remove()
  const found = /"code":"(\w+)"/.exec(stderr)?.[1] ?? 'done'
  const where = `firmlake convert: ${fault.kind} at call ${fault.nth} (${call.replace(lake, '')})`
  if (found === 'done' ? code !== 0 : code !== 1 || found !== ALLOWED[fault.kind])
    work.wrong.push(`${where}: exit code ${code}, ${stderr}`)
  work.count(failed === 0 ? 'command line: not reached' : `command line: exit code ${code}, ${found}`)
  // It cuts blocks elsewhere than the library did.
  const [seen] = await WRITE_OPERATIONS.convert.state(lake)
  const isBefore = seen === ground.before[0] && code !== 0
  if (!isBefore && (await WRITE_OPERATIONS.convert.rows?.(lake)) !== ground.rows)
    work.wrong.push(`${where}: it shows neither what was before nor after`)
  await rm(lake, { recursive: true, force: true })
}

const run = async ({ cases, only, random, log }: CampaignOptions): Promise<CampaignResult> => {
  await using work = await DisturbedWork.open(random, kindsOf(cases, only))
  const named = allCases(work).filter((one) => textOf(one).startsWith(only ?? ''))
  const chosen = shuffled(named, random).slice(0, cases)
  // Those of one kind of work together: a process has loaded it once.
  const groups = Map.groupBy(chosen, ({ name }) => name)
  let done = 0
  for (const group of groups.values())
    for (let at = 0; at < group.length; at += CASES_PER_CHILD) {
      const some = group.slice(at, at + CASES_PER_CHILD)
      const before = work.wrong.length
      await runSome(work, some)
      done += some.length
      for (const line of work.wrong.slice(before)) log(line)
      log(`${done} of ${chosen.length} cases, ${work.wrong.length} wrong`)
    }
  const commands = chosen.filter(({ name, fault }) => name === 'convert' && fault.kind !== 'short')
  for (const { fault } of commands.slice(0, Math.ceil(chosen.length / COMMAND_LINE_EVERY)))
    await runCommand(work, fault)
  return { cases: done, wrong: work.wrong, figures: work.figures }
}

export const campaign: Campaign = {
  about:
    'after a write that failed the lake is whole, as before or after; the same command again completes it',
  // More than there are: each call of each piece of work, with each failure, once and for good.
  wholeCases: 10_000,
  run,
}
