/** Preloaded: makes objects that live for a while, as a long load does, and leaves the size of V8's young generation in a file. */

import { writeFileSync } from 'node:fs'
import { getHeapSpaceStatistics } from 'node:v8'

const MEBIBYTE = 1024 ** 2
const ROUNDS = 200
let kept: unknown[] = []

const churn = (round: number): void => {
  for (let at = 0; at < 20_000; at++) kept.push({ at, list: [at] })
  if (kept.length > 200_000) kept = []
  // A pause now and then: a program's timers are due at these.
  if (round < ROUNDS) setTimeout(churn, round % 10 === 0 ? 20 : 0, round + 1)
}
// The command has begun by then.
setTimeout(churn, 500, 0)

process.on('exit', () => {
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
  writeFileSync(process.env.YOUNG_FILE ?? '', String((young?.space_size ?? 0) / MEBIBYTE))
})
