/**
 * Runs that many machines work on: workers, planners and commits are killed, sleep and come back, each unit is worked on
 * twice, three commit at once, and gc runs all the while. A case is a round. The seed chooses what befalls whom; at which
 * point of the work it does is the machine's to say.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { withScratch } from '../../src/run/scratch.ts'
import { listFolder } from '../../src/support/list-files.ts'
import type { Campaign, CampaignOptions, CampaignResult } from './campaign.ts'
import { UsualTimes } from './disturbed-steps.ts'
import {
  makeMachines,
  missingFor,
  openPlace,
  PLACES,
  type Place,
  type PlaceName,
  withEnvironment,
} from './machine-places.ts'
import { playRound } from './machines-round.ts'
import { writeManyFiles } from './many-files.ts'

const WHOLE_CASES = 50
const MACHINES = 2
/** Of so many rounds one is in a bucket, and one in a bucket whose server loses answers. */
const CYCLE = 10

const placeOf = (round: number, only: string | undefined): PlaceName => {
  const chosen = PLACES.find((name) => name === only)
  if (chosen) return chosen
  return round % CYCLE === 2 ? 'bucket' : round % CYCLE === 7 ? 'bucket that loses answers' : 'folder'
}

const runRounds = async ({ cases, seed, only, random, log }: CampaignOptions): Promise<CampaignResult> => {
  const wrong: string[] = []
  const figures: Record<string, number> = {}
  const count = (what: string, by = 1): void => {
    figures[what] = (figures[what] ?? 0) + by
  }
  const folder = await mkdtemp(join(tmpdir(), 'firmlake-machines-'))
  const places = new Map<PlaceName, Place>()
  const usual = new UsualTimes()
  try {
    const homes = await makeMachines(folder, MACHINES)
    const files = await writeManyFiles(join(folder, 'files'), cases < 10 ? 16 : 100, seed)
    for (let round = 0; round < cases; round += 1) {
      const name = placeOf(round, only)
      if (missingFor(name) !== undefined) {
        count(`left out, no server: ${name}`)
        continue
      }
      const place = places.get(name) ?? (await openPlace(name, join(folder, 'lakes'), random))
      places.set(name, place)
      const began = performance.now()
      const before = wrong.length
      const say = (what: string): void => {
        wrong.push(`round ${round}, ${name}: ${what}`)
      }
      const machines = homes.map((home) => place.environment(home))
      const lake = place.lake(`round-${round}`)
      const play = { lake, files, random, usual, machines, say, count }
      await withEnvironment(machines[0] ?? {}, () => playRound(play)).catch((error: unknown) =>
        say(String(error)),
      )
      await rm(join(folder, 'lakes', `round-${round}`), { recursive: true, force: true })
      for (const line of wrong.slice(before)) log(line)
      const kills = Object.entries(figures).filter(([what]) => what.endsWith('SIGKILL'))
      log(
        `round ${round + 1} of ${cases}, ${name}: ${((performance.now() - began) / 1000).toFixed(1)} s, ` +
          `${kills.reduce((sum, [, times]) => sum + times, 0)} killed so far, ${wrong.length} wrong`,
      )
    }
    for (const home of homes) wrong.push(...(await deadScratch(home)))
    for (const [name, place] of places) if (name !== 'folder') count(`answers lost, ${name}`, place.lost())
    return { cases, wrong, figures }
  } finally {
    for (const place of places.values()) await place[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  }
}

/** What killed workers left on a machine goes when the next one begins there. */
const deadScratch = (home: string): Promise<readonly string[]> =>
  withEnvironment({ FIRMLAKE_WORK_DIR: home }, () =>
    withScratch(async (scratch) => {
      const found = await listFolder(dirname(scratch))
      return found.map(({ name }) => join(dirname(scratch), name)).filter((path) => path !== scratch)
    }),
  )

export const campaign: Campaign = {
  about:
    'however many machines work on a run and whatever befalls them, one snapshot shows all rows once, and gc leaves nothing else',
  wholeCases: WHOLE_CASES,
  run: (options) => runRounds(options),
}
