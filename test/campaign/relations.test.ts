import { expect, test } from 'vitest'
import { runCampaign } from './campaign.ts'
import { campaign } from './relations-campaign.ts'

test('every relations line that is taken becomes the rows that JSON.parse and the contract say', async () => {
  const { wrong, figures } = await runCampaign(campaign, { seed: 11, cases: 3000 })
  expect(wrong).toEqual([])
  // Lines of both kinds, refused for many reasons, and many rows.
  expect(Number(figures.accepted)).toBeGreaterThan(500)
  expect(Number(figures.rejected)).toBeGreaterThan(1000)
  expect(Number(figures.reasons)).toBeGreaterThan(6)
  expect(Number(figures.rows)).toBeGreaterThan(5000)
})
