import { expect, test } from 'vitest'
import { openFailingWrites } from '../support/failing-writes.ts'
import { needs } from '../support/needs.ts'
import { runCampaign } from './campaign.ts'
import { campaign } from './year-campaign.ts'

test('nine nights leave exactly what their generator says, and the report tells their story', {
  timeout: 240_000,
}, async (context) => {
  const faults = openFailingWrites()
  if ('missing' in faults) return needs(context, 'a library that makes writes fail', faults.missing)
  faults.remove()
  const { wrong, figures } = await runCampaign(campaign, { seed: 107_770, cases: 9 })
  expect(wrong).toEqual([])
  // Nights of both kinds, and alarms.
  for (const name of ['committed', 'quiet', 'alarms'])
    expect([name, Number(figures[name]) > 1]).toEqual([name, true])
})
