import { expect, test } from 'vitest'
import { runCampaign } from './campaign.ts'
import { campaign } from './orders-campaign.ts'

test('the deliveries decide what is current and what was before, not their order', async () => {
  const { wrong, figures } = await runCampaign(campaign, { seed: 5, cases: 2 })
  expect(wrong).toEqual([])
  // Several versions of each company.
  expect(Number(figures.versions)).toBeGreaterThan(40)
})
