import { expect, test } from 'vitest'
import { runCampaign } from './campaign.ts'
import { campaign } from './damage-campaign.ts'

test('no command answers wrongly from a damaged lake, and verify names the file', async () => {
  const { wrong } = await runCampaign(campaign, { seed: 3, cases: 11 })
  expect(wrong).toEqual([])
})
