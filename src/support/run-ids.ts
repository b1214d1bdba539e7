/** Ids of runs: they sort by time and stand in paths as they are. */

/** Gives so many random bytes; `randomBytes` of `node:crypto` is one. */
export type RandomBytes = (sizeBytes: number) => Uint8Array

const RUN_ID = /^\d{8}T\d{9}Z-[0-9a-f]{6}$/

/**
 * A new id: the time in UTC to the millisecond, then 24 random bits.
 *
 * @example newRunId(new Date('2026-11-21T09:45:00.123Z'), randomBytes) // '20261121T094500123Z-1f9a2c'
 */
export const newRunId = (now: Date, random: RandomBytes): string =>
  `${now.toISOString().replaceAll(/[-:.]/g, '')}-${Buffer.from(random(3)).toString('hex')}`

/**
 * When a run began, by its id: the same on every machine that works on it.
 *
 * @example runBegan('20261121T094500123Z-1f9a2c') // '2026-11-21T09:45:00.123Z'
 */
export const runBegan = (run: string): string =>
  run.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z-.*$/, '$1-$2-$3T$4:$5:$6.$7Z')

/** Whether a text is a run id, and so safe in a path. */
export const isRunId = (text: string): boolean => RUN_ID.test(text)
