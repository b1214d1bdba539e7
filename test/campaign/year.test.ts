import { expect, test } from 'vitest'
import { openFailingWrites } from '../support/failing-writes.ts'
import { needs } from '../support/needs.ts'
import { runCampaign } from './campaign.ts'
import { campaign } from './year-campaign.ts'

test('six nights leave exactly what their generator says, and the report tells their story', {
  timeout: 240_000,
}, async (context) => {
  const faults = openFailingWrites()
  if ('missing' in faults) return needs(context, 'a library that makes writes fail', faults.missing)
  faults.remove()
  const { wrong, figures } = await runCampaign(campaign, { seed: 11_474, cases: 6 })
  expect(wrong).toEqual([])
  // Nights of both kinds, alarms, each way of all, and nights that are held back. Whether a kill comes before the end goes by the machine.
  const names = ['committed', 'quiet', 'alarms', 'all as pages', 'all as batches']
  const held = ['held by a file', 'held by a service', 'released: released', 'discarded: discarded']
  for (const name of [...names, ...held]) expect([name, Number(figures[name]) > 0]).toEqual([name, true])
})
