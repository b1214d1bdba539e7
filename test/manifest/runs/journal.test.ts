import { appendFile, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { inLake } from '../../../src/lake/files/layout.ts'
import {
  journalPath,
  openJournal,
  readAllWork,
  readJournal,
  readUnitWork,
  recordedUnits,
  recordUnit,
  type UnitWork,
} from '../../../src/manifest/runs/journal.ts'
import type { SourceResult } from '../../../src/manifest/runs/journal-lines.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { seededRandom } from '../damage.ts'
import { stageRun } from '../small-lake.ts'

test('readJournal gives what was appended', async () => {
  const lake = await temporaryFolder()
  const { lease, entries } = await stageRun(lake, ['a', 'b'])
  expect(await readJournal(lake, lease.run)).toEqual({ entries })
})

test('readJournal leaves out a last line cut at any byte, and openJournal goes on before it', async () => {
  const lake = await temporaryFolder()
  const { lease, entries } = await stageRun(lake, ['a', 'b'])
  const path = inLake(lake, journalPath(lease.run))
  const whole = await readFile(path)
  const firstBytes = whole.indexOf(10) + 1
  for (let size = firstBytes; size < whole.length; size += 37) {
    await writeFile(path, whole.subarray(0, size))
    expect(await readJournal(lake, lease.run)).toEqual({ entries: entries.slice(0, 1) })
    const journal = await openJournal(lease)
    const [, second] = entries
    if (second) await journal.append(second)
    await journal.close()
    expect(await readFile(path)).toEqual(whole)
  }
})

test('readJournal leaves out a last line of zeros', async () => {
  const lake = await temporaryFolder()
  const { lease, entries } = await stageRun(lake, ['a'])
  const whole = await readFile(inLake(lake, journalPath(lease.run)))
  await appendFile(inLake(lake, journalPath(lease.run)), `${'\0'.repeat(50)}\n`)
  expect(await readJournal(lake, lease.run)).toEqual({ entries })
  await (await openJournal(lease)).close()
  expect(await readFile(inLake(lake, journalPath(lease.run)))).toEqual(whole)
})

test('readJournal refuses damage before the last line', async () => {
  const lake = await temporaryFolder()
  const { lease } = await stageRun(lake, ['a', 'b'])
  const path = inLake(lake, journalPath(lease.run))
  await writeFile(path, `x${await readFile(path, 'utf8')}`)
  await expect(readJournal(lake, lease.run)).rejects.toMatchObject({
    code: 'RUN_NOT_RESUMABLE',
    context: { line: 1 },
  })
})

test('readJournal throws RUN_NOT_FOUND where there is none', async () => {
  const lake = await temporaryFolder()
  const { lease } = await stageRun(lake, ['a'])
  await rm(inLake(lake, journalPath(lease.run)))
  for (const read of [() => readJournal(lake, lease.run), () => openJournal(lease)])
    await expect(read()).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  await expect(readJournal(await temporaryFolder(), 'none')).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
})

test('readJournal gives the last entry of a partition that was loaded again', async () => {
  const lake = await temporaryFolder()
  const { lease, entries } = await stageRun(lake, ['a', 'b'])
  const [first, second] = entries
  if (!first || !second) throw new Error('No entries')
  const source = { ...first.partition.source, sha256: '1'.repeat(64) }
  const again = { ...first, partition: { ...first.partition, source } }
  const journal = await openJournal(lease)
  await journal.append(again)
  await journal.close()
  expect(await readJournal(lake, lease.run)).toEqual({ entries: [second, again] })
})

/** `FIRMLAKE_ROUNDS=20` looks longer. */
const ROUNDS = Number(process.env.FIRMLAKE_ROUNDS ?? 1)

test('readJournal takes no changed bit of a line for an entry', async () => {
  const lake = await temporaryFolder()
  const { lease, entries } = await stageRun(lake, ['a', 'b'])
  const path = inLake(lake, journalPath(lease.run))
  const whole = await readFile(path)
  const random = seededRandom(5)
  for (let time = 0; time < 60 * ROUNDS; time += 1) {
    const changed = Buffer.from(whole)
    const at = Math.floor(random() * whole.length)
    changed[at] = (changed[at] ?? 0) ^ (1 << Math.floor(random() * 8))
    await writeFile(path, changed)
    const { entries: read } = await readJournal(lake, lease.run).catch(() => ({ entries: [] }))
    for (const entry of read) expect(entries).toContainEqual(entry)
    expect(read.length).toBeLessThan(2)
  }
})

test('readJournal takes no line without its seal', async () => {
  const lake = await temporaryFolder()
  const { lease, entries } = await stageRun(lake, ['a', 'b'])
  await writeFile(
    inLake(lake, journalPath(lease.run)),
    entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''),
  )
  await expect(readJournal(lake, lease.run)).rejects.toMatchObject({ code: 'RUN_NOT_RESUMABLE' })
})

test('readJournal gives what became of every source, and nothing once another attempt goes on', async () => {
  const lake = await temporaryFolder()
  const { lease, entries } = await stageRun(lake, ['a', 'b'])
  expect((await readJournal(lake, lease.run)).result).toBeUndefined()
  const [first, second] = entries
  if (first === undefined || second === undefined) throw new Error('two partitions')
  const sources: SourceResult[] = [
    { kind: 'loaded', source: 'b', partitions: [second.partition.id, first.partition.id] },
    { kind: 'skipped', source: 'c', reason: 'it is equal to "b"' },
    { kind: 'left-out', source: 'd', code: 'DECODE_DAMAGED', reason: 'Cannot decode "d"' },
  ]
  const journal = await openJournal(lease)
  await journal.finish({ sources, read: ['DECODE_DAMAGED'] })
  await journal.close()
  expect(await readJournal(lake, lease.run)).toEqual({
    result: { sources, read: ['DECODE_DAMAGED'] },
    entries,
  })

  const again = await openJournal(lease)
  // A process that is killed now has not done the work.
  expect((await readJournal(lake, lease.run)).result).toBeUndefined()
  expect(await readJournal(lake, lease.run)).toEqual({ entries })
  await again.append(first)
  await again.close()
  expect((await readJournal(lake, lease.run)).result).toBeUndefined()
  expect(await readJournal(lake, lease.run)).toEqual({ entries: [second, first] })
})

test('readJournal takes no torn line for the end of the work', async () => {
  const lake = await temporaryFolder()
  const { lease, entries } = await stageRun(lake, ['a'])
  const journal = await openJournal(lease)
  await journal.finish({ sources: [], read: [] })
  await journal.close()
  const path = inLake(lake, journalPath(lease.run))
  await writeFile(path, (await readFile(path)).subarray(0, -2))
  expect((await readJournal(lake, lease.run)).result).toBeUndefined()
  expect(await readJournal(lake, lease.run)).toEqual({ entries })
})

test('readJournal takes no result for the end of the work of which a partition is missing', async () => {
  const lake = await temporaryFolder()
  const { lease, entries } = await stageRun(lake, ['a', 'b'])
  const [first, second] = entries
  if (first === undefined || second === undefined) throw new Error('two partitions')
  const partitions = [first.partition.id, second.partition.id]
  const journal = await openJournal(lease)
  await journal.finish({ sources: [{ kind: 'loaded', source: 'a', partitions }], read: [] })
  await journal.close()
  expect((await readJournal(lake, lease.run)).result?.sources).toHaveLength(1)
  const path = inLake(lake, journalPath(lease.run))
  const [, ...others] = (await readFile(path, 'utf8')).split('\n')
  await writeFile(path, others.join('\n'))
  expect((await readJournal(lake, lease.run)).result).toBeUndefined()
  expect(await readJournal(lake, lease.run)).toEqual({ entries: [second] })
})

/** A run with two partitions that are the work of one unit. */
const unitOfTwo = async () => {
  const lake = await temporaryFolder()
  const { lease, entries } = await stageRun(lake, ['a', 'b'])
  const partitions = entries.map(({ partition }) => partition.id)
  const sources: SourceResult[] = [
    { kind: 'loaded', source: 'a', partitions },
    { kind: 'left-out', source: 'd', code: 'DECODE_DAMAGED', reason: 'Cannot decode "d"' },
  ]
  const work: UnitWork = { entries, result: { sources, read: ['DECODE_DAMAGED'], attempt: 'one', by: 'me' } }
  return { lake, run: lease.run, work }
}

test('recordUnit lets the first attempt count, and tells it so again', async () => {
  const { lake, run, work } = await unitOfTwo()
  expect(await readUnitWork(lake, run, 7)).toBeNull()
  expect(await recordUnit(lake, run, 7, work)).toBe(true)
  const other = { entries: [], result: { ...work.result, sources: [], attempt: 'two' } }
  expect(await recordUnit(lake, run, 7, other)).toBe(false)
  expect(await recordUnit(lake, run, 7, work)).toBe(true)
  expect(await readUnitWork(lake, run, 7)).toEqual(work)
  expect([...(await recordedUnits(lake, run))]).toEqual([7])
})

test('recordUnit does not say that another attempt was first where the journal is gone by the time it is read', async () => {
  const { lake, run, work } = await unitOfTwo()
  const path = inLake(lake, journalPath(run, 7))
  await mkdir(dirname(path), { recursive: true })
  // Its name is taken, and it cannot be read.
  await symlink(join(lake, 'nowhere'), path)
  expect(await recordUnit(lake, run, 7, work)).toBe(true)
})

test('readAllWork gives the work of a run, whoever has done it, the units in their order', async () => {
  const { lake, run, work } = await unitOfTwo()
  const [first, second] = work.entries
  if (first === undefined || second === undefined) throw new Error('two partitions')
  const owned = await readFile(inLake(lake, journalPath(run)))
  expect(await readAllWork(lake, run)).toEqual({ entries: work.entries, sources: [] })
  await writeFile(inLake(lake, journalPath(run)), '')
  for (const [unit, one] of [
    [10, first],
    [9, second],
  ] as const) {
    const sources = [{ kind: 'loaded', source: `of ${unit}`, partitions: [one.partition.id] }] as const
    await recordUnit(lake, run, unit, { entries: [one], result: { sources, read: [], attempt: 'one' } })
  }
  const { entries, sources } = await readAllWork(lake, run)
  expect(entries).toEqual([second, first])
  expect(sources.map(({ source }) => source)).toEqual(['of 9', 'of 10'])
  // A process took it over and loaded all of it.
  await writeFile(inLake(lake, journalPath(run)), owned)
  expect(await readAllWork(lake, run)).toEqual({ entries: work.entries, sources: [] })
  await rm(inLake(lake, journalPath(run)))
  await expect(readAllWork(lake, run)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
})

test('readUnitWork refuses a journal of which a byte is another, or a line is missing', async () => {
  const { lake, run, work } = await unitOfTwo()
  await recordUnit(lake, run, 0, work)
  const path = inLake(lake, journalPath(run, 0))
  const whole = await readFile(path)
  const lines = whole.toString().trimEnd().split('\n')
  expect(lines).toHaveLength(3)
  const random = seededRandom(6)
  const changed = Array.from({ length: 40 * ROUNDS }, () => {
    const bytes = Buffer.from(whole)
    const at = Math.floor(random() * whole.length)
    bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8))
    return bytes
  })
  const cut = Array.from({ length: 40 }, (_, at) => whole.subarray(0, Math.floor((at * whole.length) / 41)))
  const lacking = lines.map((_, out) => Buffer.from(lines.filter((_line, at) => at !== out).join('\n')))
  for (const bytes of [...changed, ...cut, ...lacking]) {
    await writeFile(path, bytes)
    await expect(readUnitWork(lake, run, 0)).rejects.toMatchObject({
      code: 'RUN_NOT_RESUMABLE',
      context: { run, unit: 0 },
    })
  }
})
