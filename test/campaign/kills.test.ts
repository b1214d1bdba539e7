import { expect, test } from 'vitest'
import { openFailingWrites } from '../support/failing-writes.ts'
import { needs } from '../support/needs.ts'
import { SEED } from '../support/seed.ts'
import { runCampaign } from './campaign.ts'
import { campaign } from './kills-campaign.ts'

test(`work that is killed leaves a lake whole, and the same command completes it (seed ${SEED})`, {
  timeout: 600_000,
}, async (context) => {
  const faults = openFailingWrites()
  if ('missing' in faults) return needs(context, 'a library that kills at a writing call', faults.missing)
  faults.remove()
  const { wrong } = await runCampaign(campaign, { seed: SEED, cases: 6 })
  expect(wrong).toEqual([])
})
