/** A process that commits run after run: `child-commits.ts <lake> <name> <runs>`; prints each committed run. */

import { loadSources } from '../manifest/small-lake.ts'

const [lake = '', name = '', runs = '0'] = process.argv.slice(2)
for (let run = 0; run < Number(runs); run += 1) {
  const outcome = await loadSources(lake, [`${name}-${run}-a`, `${name}-${run}-b`])
  if (outcome.kind !== 'committed') throw new Error(`Not committed: ${outcome.kind}`)
  console.log(outcome.snapshot.run)
}
