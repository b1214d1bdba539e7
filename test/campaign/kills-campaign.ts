/**
 * Small pieces of work are killed: before a writing call of theirs, or at any moment. Some are killed twice, in the whole form
 * a few twenty times.
 */

import { rm } from 'node:fs/promises'
import type { Campaign, CampaignOptions, CampaignResult } from './campaign.ts'
import { DisturbedChild } from './disturbed-child.ts'
import { DisturbedWork, kindsOf } from './disturbed-work.ts'
import type { WriteOperationName } from './write-operations.ts'

/** Before a call, counted from 1; or after so many milliseconds. */
type Moment = { readonly call: number } | { readonly ms: number }

const SECOND_KILLS = 0.35
const MANY_KILLS = { share: 0.05, times: 20 } as const
const WHOLE_FORM = 50

const timesOf = (cases: number, random: () => number): number =>
  cases >= WHOLE_FORM && random() < MANY_KILLS.share ? MANY_KILLS.times : 1 + Number(random() < SECOND_KILLS)

const textOf = (moment: Moment): string =>
  'call' in moment ? `call ${moment.call}` : `${moment.ms.toFixed(1)} ms`

/** @returns whether it was done before it could be killed */
const killAt = async (
  work: DisturbedWork,
  name: WriteOperationName,
  lake: string,
  moment: Moment,
  say: (what: string) => void,
): Promise<boolean> => {
  const child = new DisturbedChild()
  // Its start takes longer than the work: the time counts from when it is ready.
  await child.ready()
  const nth = 'call' in moment ? moment.call : 0
  const fault = { kind: 'kill', once: true, nth } as const
  const task = work.task(name, fault, lake)
  const { code, message } = await ('ms' in moment ? child.run(task, moment.ms) : child.run(task))
  await child.end()
  if (code !== 'done' && code !== 'ENDED') say(`it ended with ${code}: ${message}`)
  work.count(code === 'done' ? 'done before its kill' : `killed: ${name}`)
  return code === 'done'
}

/** @param kinds of work, all or some */
export const killWork = async (
  { cases, random, log }: Omit<CampaignOptions, 'seed' | 'only'>,
  kinds: number | readonly WriteOperationName[] = kindsOf(cases),
): Promise<CampaignResult> => {
  await using work = await DisturbedWork.open(random, kinds)
  const names = [...work.grounds.keys()]
  const momentOf = (name: WriteOperationName): Moment => {
    const { calls, workMs } = work.ground(name)
    return random() < 0.6 ? { call: 1 + Math.floor(random() * calls.kill) } : { ms: random() * workMs }
  }
  for (let at = 0; at < cases; at += 1) {
    const name = names[Math.floor(random() * names.length)] ?? 'convert'
    const moments = Array.from({ length: timesOf(cases, random) }, () => momentOf(name))
    if (moments.length === MANY_KILLS.times) work.count('killed 20 times')
    const before = work.wrong.length
    const lake = await work.lakeFor(name)
    const say = (what: string): void => {
      work.wrong.push(`${name}, killed at ${moments.map(textOf).join(' and ')}: ${what}`)
    }
    let done = false
    for (const moment of moments) done = (await killAt(work, name, lake, moment, say)) || done
    await work.judge(name, lake, done, say).catch((error: unknown) => say(String(error)))
    await rm(lake, { recursive: true, force: true })
    for (const line of work.wrong.slice(before)) log(line)
    if (at % 10 === 9) log(`${at + 1} of ${cases} cases, ${work.wrong.length} wrong`)
  }
  return { cases, wrong: work.wrong, figures: work.figures }
}

export const campaign: Campaign = {
  about:
    'after a kill the lake is whole, as before or after; the same command again completes it, gc leaves nothing',
  wholeCases: 1000,
  run: ({ only, ...options }) => killWork(options, kindsOf(options.cases, only)),
}
