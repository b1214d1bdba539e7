import { appendFile, readFile, rm, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { inLake } from '../../../src/lake/files/layout.ts'
import {
  journalPath,
  openJournal,
  readFinishedWork,
  readJournal,
  type SourceResult,
} from '../../../src/manifest/runs/journal.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { seededRandom } from '../damage.ts'
import { stageRun } from '../small-lake.ts'

test('readJournal gives what was appended', async () => {
  const lake = await temporaryFolder()
  const { lease, entries } = await stageRun(lake, ['a', 'b'])
  expect(await readJournal(lake, lease.run)).toEqual(entries)
})

test('readJournal leaves out a last line cut at any byte, and openJournal goes on before it', async () => {
  const lake = await temporaryFolder()
  const { lease, entries } = await stageRun(lake, ['a', 'b'])
  const path = inLake(lake, journalPath(lease.run))
  const whole = await readFile(path)
  const firstBytes = whole.indexOf(10) + 1
  for (let size = firstBytes; size < whole.length; size += 37) {
    await writeFile(path, whole.subarray(0, size))
    expect(await readJournal(lake, lease.run)).toEqual(entries.slice(0, 1))
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
  expect(await readJournal(lake, lease.run)).toEqual(entries)
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
  expect(await readJournal(lake, lease.run)).toEqual([second, again])
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
    const read = await readJournal(lake, lease.run).catch(() => [])
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

test('readFinishedWork gives what became of every unit, and nothing once another attempt goes on', async () => {
  const lake = await temporaryFolder()
  const { lease, entries } = await stageRun(lake, ['a', 'b'])
  expect(await readFinishedWork(lake, lease.run)).toBeUndefined()
  const [first, second] = entries
  if (first === undefined || second === undefined) throw new Error('two partitions')
  const units: SourceResult[] = [
    { kind: 'loaded', source: 'b', partitions: [second.partition.id, first.partition.id] },
    { kind: 'skipped', source: 'c', reason: 'it is equal to "b"' },
    { kind: 'left-out', source: 'd', code: 'DECODE_DAMAGED', reason: 'Cannot decode "d"' },
  ]
  const journal = await openJournal(lease)
  await journal.finish({ units, read: ['DECODE_DAMAGED'] })
  await journal.close()
  expect(await readFinishedWork(lake, lease.run)).toEqual({
    units,
    read: ['DECODE_DAMAGED'],
    entries,
  })
  expect(await readJournal(lake, lease.run)).toEqual(entries)

  const again = await openJournal(lease)
  // A process that is killed now has not done the work.
  expect(await readFinishedWork(lake, lease.run)).toBeUndefined()
  expect(await readJournal(lake, lease.run)).toEqual(entries)
  await again.append(first)
  await again.close()
  expect(await readFinishedWork(lake, lease.run)).toBeUndefined()
  expect(await readJournal(lake, lease.run)).toEqual([second, first])
})

test('readFinishedWork takes no torn line for the end of the work', async () => {
  const lake = await temporaryFolder()
  const { lease, entries } = await stageRun(lake, ['a'])
  const journal = await openJournal(lease)
  await journal.finish({ units: [], read: [] })
  await journal.close()
  const path = inLake(lake, journalPath(lease.run))
  await writeFile(path, (await readFile(path)).subarray(0, -2))
  expect(await readFinishedWork(lake, lease.run)).toBeUndefined()
  expect(await readJournal(lake, lease.run)).toEqual(entries)
})
