/**
 * The seed of the suite's short campaigns: the same each time, so that a failure comes from a change. Others with
 * `FIRMLAKE_SEED`, or with `npm run campaign`, whose whole forms look for what no one has seen.
 */
export const SEED = Number(process.env.FIRMLAKE_SEED ?? 16)
