import { expect, test } from 'vitest'
import { runCampaign } from './campaign.ts'
import { campaign } from './history-campaign.ts'

test('eighteen nights that are merged, compacted and swept leave the history of nights that are not', {
  timeout: 480_000,
}, async () => {
  const { wrong, figures } = await runCampaign(campaign, { seed: 7, cases: 18 })
  expect(wrong).toEqual([])
  for (const did of ['merges', 'compactions', 'forgets', 'pulls of all', 'late files', 'came back'])
    expect([did, Number(figures[did]) > 0]).toEqual([did, true])
})
