import { expect, test } from 'vitest'
import { runCampaign } from './campaign.ts'
import { campaign } from './month-campaign.ts'

test('nine nights make a snapshot where something came, ring where they should, and the report tells their story', async () => {
  const { wrong, figures } = await runCampaign(campaign, { seed: 679, cases: 9 })
  expect(wrong).toEqual([])
  expect(figures).toMatchObject({ committed: expect.any(Number), quiet: expect.any(Number) })
  // Nights of both kinds, and alarms.
  for (const name of ['committed', 'quiet', 'alarms'])
    expect([name, Number(figures[name]) > 1]).toEqual([name, true])
})
