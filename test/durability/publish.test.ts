/** Publishing by several processes at once, and by killed ones. */

import { spawnSync } from 'node:child_process'
import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { TABLES } from '../../src/lake/tables/tables.ts'
import { removeGarbage } from '../../src/manifest/gc/remove-garbage.ts'
import { publishCurrent, shownCounts } from '../publish/current-lake.ts'
import { metadataNumbers, publishIceberg, tableText } from '../publish/iceberg/iceberg-lake.ts'
import { loadSmallRun, logNames, logText, publishDelta } from '../publish/sample-lake.ts'
import { useSmallLakes } from '../publish/small-lakes.ts'
import { verify } from '../run/batch-bench.ts'
import { startChild } from '../support/children.ts'
import { armFaults, openFailingWrites } from '../support/failing-writes.ts'
import { needs } from '../support/needs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const CHILD = new URL('child-publish.ts', import.meta.url)
const KILLS = Number(process.env.FIRMLAKE_PUBLISH_KILLS ?? 3)
const smallLake = useSmallLakes()

/** A table's commits; checkpoints are written by either process. */
const commitNames = async (lake: string, table: string): Promise<string[]> =>
  (await logNames(lake, table)).filter((name) => name.endsWith('.json'))

const FORMATS = [
  { format: 'delta', publish: publishDelta, folder: '_delta_log', textOf: logText, listOf: commitNames },
  {
    format: 'iceberg',
    publish: publishIceberg,
    folder: 'metadata',
    textOf: tableText,
    listOf: metadataNumbers,
  },
] as const

describe.each(FORMATS)('publish $format', ({ format, publish, folder, textOf, listOf }) => {
  const strings = (lake: string): Promise<string[]> =>
    Promise.all(TABLES.map(({ name }) => textOf(lake, name)))
  const lists = (lake: string): Promise<unknown[]> =>
    Promise.all(TABLES.map(({ name }) => listOf(lake, name)))
  const forget = async (lake: string): Promise<void> => {
    for (const { name } of TABLES) await rm(join(lake, name, folder), { recursive: true, force: true })
  }
  /** A lake of small runs, and what one undisturbed process publishes of it; nothing is published any more. */
  const forgotten = async (runs: number) => {
    const lake = await smallLake(await temporaryFolder(), runs)
    await publish(lake)
    const [undisturbed, versions] = [await strings(lake), await lists(lake)]
    await forget(lake)
    return { lake, undisturbed, versions }
  }

  test('by two processes at once gives the tables of one', async () => {
    // So many that Delta writes a checkpoint.
    const { lake, undisturbed, versions } = await forgotten(12)
    const both = [startChild(CHILD, lake, format), startChild(CHILD, lake, format)]
    expect(await Promise.all(both.map((child) => child.ended()))).toEqual([0, 0])
    expect(await strings(lake)).toEqual(undisturbed)
    expect(await lists(lake)).toEqual(versions)
  })

  test('resumes where a killed one stood', async () => {
    const { lake, undisturbed } = await forgotten(4)
    for (let kill = 0; kill < KILLS; kill += 1) {
      await forget(lake)
      for (let attempt = 0; attempt < 2; attempt += 1) {
        const child = startChild(CHILD, lake, format)
        // Spread over all tables and versions; the kill itself comes at any point behind.
        const steps = 1 + ((kill * 11 + attempt * 7) % 31)
        for (let step = 0; step < steps; step += 1) if ((await child.nextLine()) === null) break
        await child.kill()
      }
      await publish(lake)
      expect(await strings(lake)).toEqual(undisturbed)
      await removeGarbage({ lake, now: new Date() })
      expect((await verify(lake)).problems).toEqual([])
    }
  })

  test('of current rows resumes where killed ones stood', async () => {
    const folder = await temporaryFolder()
    const lake = await smallLake(folder, 1)
    for (let kill = 0; kill < KILLS; kill += 1) {
      await loadSmallRun(folder, kill + 2)
      const child = startChild(CHILD, lake, format, 'current')
      for (let step = 0; step <= (kill * 5) % TABLES.length; step += 1)
        if ((await child.nextLine()) === null) break
      await child.kill()
    }
    await publishCurrent(lake, { formats: [format] })
    expect((await verify(lake)).problems).toEqual([])
    for (const name of ['companies', 'financials']) {
      const table = TABLES.find((one) => one.name === name)
      if (table === undefined) throw new TypeError(name)
      const shown = await shownCounts(lake, table, format)
      expect(shown, name).toBe((KILLS + 2) * (name === 'companies' ? 1 : 2))
    }
  })
})

test('a kill at any write between the metadata of an Iceberg table and its version hint is noted, and no damage', async (context) => {
  const faults = openFailingWrites({ traced: true })
  if ('missing' in faults) return needs(context, 'a library that fails writing calls', faults.missing)
  onTestFinished(() => faults.remove())
  const folder = await temporaryFolder()
  const base = await smallLake(folder, 1)
  await publishIceberg(base)
  await loadSmallRun(folder, 2)
  const lake = join(folder, 'copy')
  const killedAt = async (nth: number): Promise<string | null> => {
    await rm(lake, { recursive: true, force: true })
    await cp(base, lake, { recursive: true })
    // Paths in metadata are absolute: the tables of a copy are made anew, behind the numbers of the old ones.
    armFaults(faults.control, lake, { kind: 'kill', once: true, nth })
    const env = { ...process.env, ...faults.env, NODE_NO_WARNINGS: '1' }
    return spawnSync(process.execPath, [fileURLToPath(CHILD), lake, 'iceberg'], { env }).signal
  }
  await killedAt(0)
  const calls = faults.trace().filter((line) => line.includes('/companies/metadata'))
  const numbers = calls.map((line) => Number(line.split(' ')[0]))
  const linked = calls.findLastIndex((line) => /\/v\d+\.metadata\.json$/.test(line))
  const between = numbers.slice(
    linked + 1,
    calls.findLastIndex((line) => line.endsWith('version-hint.text')) + 1,
  )
  expect(between.length).toBeGreaterThan(5)
  for (const nth of between) {
    expect(await killedAt(nth)).toBe('SIGKILL')
    const { problems, notes } = await verify(lake)
    expect(problems).toEqual([])
    expect(notes.filter((note) => note.includes('unfinished publication'))).not.toEqual([])
  }
  await publishIceberg(lake)
  expect(await verify(lake)).toMatchObject({ problems: [], notes: [] })
})
