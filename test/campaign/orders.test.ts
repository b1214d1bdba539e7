import { expect, test } from 'vitest'
import { runCampaign } from './campaign.ts'
import { campaign } from './orders-campaign.ts'

test('the deliveries decide what is current and what was before, not their order and not what is done between them', {
  timeout: 480_000,
}, async () => {
  const { wrong, figures } = await runCampaign(campaign, { seed: 5, cases: 1 })
  expect(wrong).toEqual([])
  // Several versions of each company, and each kind of upkeep.
  expect(Number(figures.versions)).toBeGreaterThan(40)
  for (const did of ['merged', 'compacted', 'swept', 'forgot'])
    expect([did, Number(figures[did]) > 0]).toEqual([did, true])
})
