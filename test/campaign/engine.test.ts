import { expect, test } from 'vitest'
import { needs } from '../support/needs.ts'
import { SEED } from '../support/seed.ts'
import { missingTemporal } from '../support/temporal-server.ts'
import { runCampaign } from './campaign.ts'
import { campaign } from './engine-campaign.ts'

test(`a run whose workers and server are killed gives the rows of one machine, once (seed ${SEED})`, {
  timeout: 600_000,
}, async (context) => {
  needs(context, 'a Temporal server, which .ci/install-tools installs', missingTemporal())
  const { wrong } = await runCampaign(campaign, { seed: SEED, cases: 3 })
  expect(wrong).toEqual([])
})
