/** `npm run campaign -- NAME [--seed N] [--cases N] [--only TEXT]`: the whole form of a campaign; exits with 1 when a promise broke. */

import { readdir } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { type Campaign, runCampaign } from './campaign.ts'

const ENDING = '-campaign.ts'
const names = (await readdir(import.meta.dirname))
  .filter((name) => name.endsWith(ENDING))
  .map((name) => name.slice(0, -ENDING.length))

const {
  values,
  positionals: [name = ''],
} = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string' }, cases: { type: 'string' }, only: { type: 'string' } },
})
if (!names.includes(name)) {
  console.error(`Cannot run campaign "${name}": there is none of that name, expected ${names.join(', ')}`)
  process.exit(2)
}
const { campaign } = (await import(`./${name}${ENDING}`)) as { readonly campaign: Campaign }
const seed = Number(values.seed ?? Date.now() % 1_000_000)
const cases = Number(values.cases ?? campaign.wholeCases)
console.log(`${name}: ${campaign.about}; ${cases} cases, seed ${seed}`)
const began = performance.now()
const {
  wrong,
  figures,
  cases: done,
} = await runCampaign(campaign, {
  ...{ seed, cases, only: values.only },
  log: console.log,
})
if (done === 0) {
  console.error(
    `Cannot run campaign "${name}": it has no case${values.only ? ` named "${values.only}"` : ''}`,
  )
  process.exit(2)
}
for (const line of wrong) console.log(`WRONG: ${line}`)
for (const [what, figure] of Object.entries(figures)) console.log(`${what}: ${figure}`)
console.log(
  `${name}: ${done} cases, ${wrong.length} wrong, seed ${seed}, ${Math.round((performance.now() - began) / 1000)} s`,
)
process.exit(wrong.length > 0 ? 1 : 0)
