import { expect, test } from 'vitest'
import { needs } from '../support/needs.ts'
import { missingS3Server } from '../support/s3-server.ts'
import { SEED } from '../support/seed.ts'
import { runCampaign } from './campaign.ts'
import { campaign } from './machines-campaign.ts'

const TIMEOUT = { timeout: 600_000 }

test(
  `a run that many disturbed machines work on gives the rows of one, once (seed ${SEED})`,
  TIMEOUT,
  async () => {
    const { wrong } = await runCampaign(campaign, { seed: SEED, cases: 1, only: 'folder' })
    expect(wrong).toEqual([])
  },
)

test(`the same in a bucket whose server loses answers (seed ${SEED})`, TIMEOUT, async (context) => {
  needs(context, 'versitygw, which .ci/install-tools installs', missingS3Server())
  const only = 'bucket that loses answers'
  const { wrong } = await runCampaign(campaign, { seed: SEED, cases: 1, only })
  expect(wrong).toEqual([])
})
