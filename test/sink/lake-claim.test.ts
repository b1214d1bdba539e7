/** Every kind of target remembers whose rows it holds. */

import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { DeliverySink } from '../../src/core/sink.ts'
import { csv } from '../../src/sink/csv.ts'
import { duckdbFile } from '../../src/sink/duckdb-file.ts'
import { postgres } from '../../src/sink/postgres/postgres.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { usePostgres } from '../support/use-postgres.ts'

const server = usePostgres()

const TARGETS: readonly (readonly [string, () => Promise<() => DeliverySink>])[] = [
  [
    'a folder',
    async () => {
      const folder = join(await temporaryFolder(), 'a', 'b')
      return () => csv(folder)
    },
  ],
  [
    'a DuckDB file',
    async () => {
      const file = join(await temporaryFolder(), 'a', 'firms.duckdb')
      return () => duckdbFile(file)
    },
  ],
  [
    'PostgreSQL',
    async () => {
      const url = server().url(await server().newDatabase())
      return () => postgres(url)
    },
  ],
]

const claim = (lake: string | null, adopt = false, marks = true) => ({ claim: { lake, adopt, marks } })
const REFUSED = { code: 'TARGET_OF_ANOTHER_LAKE' }

test.each(TARGETS)(
  '%s takes the rows of the first lake alone, until it is handed over',
  async (_what, make) => {
    const sink = await make()
    // Whoever only looks, or exports once, leaves no mark.
    expect(await sink().deliveredRuns(claim('a', false, false))).toEqual(new Set())
    expect(await sink().deliveredRuns(claim(null, false, false))).toEqual(new Set())
    expect(await sink().deliveredRuns(claim('b'))).toEqual(new Set())
    expect(await sink().deliveredRuns(claim('b'))).toEqual(new Set())
    for (const other of [claim('a'), claim('a', false, false), claim(null, false, false)])
      await expect(sink().deliveredRuns(other)).rejects.toMatchObject(REFUSED)
    expect(await sink().deliveredRuns(claim('b'))).toEqual(new Set())
    expect(await sink().deliveredRuns(claim('a', true))).toEqual(new Set())
    await expect(sink().deliveredRuns(claim('b'))).rejects.toMatchObject(REFUSED)
    expect(await sink().deliveredRuns()).toEqual(new Set())
  },
)

test.each(TARGETS)('of several lakes that come to %s at once one has it', async (_what, make) => {
  const sink = await make()
  const lakes = ['a', 'b', 'c', 'd']
  const come = (): Promise<readonly (string | undefined)[]> =>
    Promise.all(
      lakes.map((lake) =>
        sink()
          .deliveredRuns(claim(lake))
          .then(
            () => lake,
            (error: unknown) => {
              expect(error).toMatchObject(REFUSED)
              return undefined
            },
          ),
      ),
    )
  const first = (await come()).filter((one) => one !== undefined)
  expect(first).toHaveLength(1)
  expect((await come()).filter((one) => one !== undefined)).toEqual(first)
})
