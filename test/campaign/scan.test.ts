import { expect, test } from 'vitest'
import { runCampaign } from './campaign.ts'
import { campaign } from './scan-campaign.ts'

test('the quick way through figures says of every line what the careful one says', async () => {
  const { wrong, figures } = await runCampaign(campaign, { seed: 11, cases: 10_000 })
  expect(wrong).toEqual([])
  // Lines of both kinds, refused for many reasons, and many figures.
  expect(Number(figures.accepted)).toBeGreaterThan(1000)
  expect(Number(figures.rejected)).toBeGreaterThan(3000)
  expect(Number(figures.reasons)).toBeGreaterThan(8)
  expect(Number(figures.figures)).toBeGreaterThan(50_000)
})
