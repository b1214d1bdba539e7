import { execFileSync } from 'node:child_process'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  inLake,
  MANIFEST_FOLDER,
  PARTS_FOLDER,
  partPath,
  recordPath,
  snapshotPath,
} from '../../../src/lake/files/layout.ts'
import { FORMAT } from '../../../src/manifest/form/root-form.ts'
import { makeLake } from '../../../src/manifest/runs/runs.ts'
import { bytesToSnapshot, documentText } from '../../../src/manifest/snapshots/snapshot-text.ts'
import {
  listSnapshots,
  newestSnapshot,
  readRoot,
  readSnapshot,
} from '../../../src/manifest/snapshots/snapshots.ts'
import { verifyLake } from '../../../src/manifest/verify/verify-lake.ts'
import { sha256Of } from '../../../src/support/hash.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { filesOf, flipBit } from '../damage.ts'
import { countLines, loadSources } from '../small-lake.ts'

const lakeOf = async (...sources: string[]): Promise<string> => {
  const lake = await temporaryFolder()
  for (const source of sources) await loadSources(lake, [source])
  return lake
}

test('readSnapshot gives the newest or the one of a number', async () => {
  const lake = await lakeOf('a', 'b')
  expect(await readSnapshot(lake)).toMatchObject({ snapshot: 2, parent: 1 })
  expect(await readSnapshot(lake, 1)).toMatchObject({ snapshot: 1, parent: null })
  expect(await listSnapshots(lake)).toEqual([1, 2])
})

test('readSnapshot throws LAKE_NOT_FOUND where there is no manifest', async () => {
  const folder = await temporaryFolder()
  for (const lake of [folder, join(folder, 'no')])
    await expect(readSnapshot(lake)).rejects.toMatchObject({ code: 'LAKE_NOT_FOUND' })
})

test('readSnapshot throws SNAPSHOT_NOT_FOUND for a number that never was', async () => {
  const lake = await lakeOf('a')
  for (const number of [0, 2])
    await expect(readSnapshot(lake, number)).rejects.toMatchObject({
      code: 'SNAPSHOT_NOT_FOUND',
      context: { snapshot: number },
    })
})

test('newestSnapshot gives null for a lake without a commit', async () => {
  const lake = await temporaryFolder()
  await makeLake(lake)
  expect(await newestSnapshot(lake)).toBeNull()
  await expect(readSnapshot(lake)).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' })
})

test('readSnapshot throws SNAPSHOT_DAMAGED when a byte is changed', async () => {
  const lake = await lakeOf('a')
  await flipBit(inLake(lake, snapshotPath(1)), 100, 0)
  await expect(readSnapshot(lake)).rejects.toMatchObject({
    code: 'SNAPSHOT_DAMAGED',
    context: { snapshot: 1 },
  })
})

test('readSnapshot does not pass over a missing newest snapshot', async () => {
  const lake = await lakeOf('a', 'b')
  await rm(inLake(lake, snapshotPath(2)))
  await expect(readSnapshot(lake)).rejects.toMatchObject({ code: 'SNAPSHOT_DAMAGED' })
  await expect(loadSources(lake, ['c'])).rejects.toMatchObject({ code: 'SNAPSHOT_DAMAGED' })
})

test('readSnapshot refuses a number that the file does not say', async () => {
  const lake = await lakeOf('a')
  await cp(inLake(lake, snapshotPath(1)), inLake(lake, snapshotPath(2)))
  await expect(readSnapshot(lake)).rejects.toMatchObject({ code: 'SNAPSHOT_DAMAGED' })
})

test.runIf(process.platform === 'linux')(
  'a snapshot and its record can be checked with common tools',
  async () => {
    const lake = await lakeOf('a')
    const text = await readFile(inLake(lake, snapshotPath(1)), 'utf8')
    const folder = join(lake, MANIFEST_FOLDER)
    const hash = execFileSync('sh', ['-c', 'head -n -2 00000001.json | sha256sum'], { cwd: folder })
    expect(JSON.parse(text)).toMatchObject({ sha256: hash.toString().slice(0, 64) })
    const checked = execFileSync('sh', ['-c', 'sha256sum -c *.sha256'], { cwd: folder }).toString()
    expect(checked).toBe('00000001.json: OK\n')
  },
)

const printed = async (lake: string): Promise<string> => {
  let text = ''
  for await (const piece of documentText(lake, await readRoot(lake))) text += piece
  return text
}

test('documentText prints all that a snapshot lists as one document, an entry a line', async () => {
  const lake = await lakeOf('a')
  await loadSources(lake, ['b', 'c'])
  const snapshot = await readSnapshot(lake)
  const text = await printed(lake)
  expect(JSON.parse(text)).toEqual({ format: FORMAT, ...snapshot })
  expect(text.split('\n').filter((line) => line.startsWith('    {"id":'))).toHaveLength(3)
})

test('bytesToSnapshot finds a change of any byte and a cut at any place', async () => {
  const bytes = await readFile(inLake(await lakeOf('a'), snapshotPath(1)))
  for (let offset = 0; offset < bytes.length; offset += 1) {
    const changed = Buffer.from(bytes)
    changed[offset] = (changed[offset] ?? 0) ^ 4
    expect(bytesToSnapshot(changed)).toMatchObject({ kind: 'damaged', cut: false })
    expect(bytesToSnapshot(bytes.subarray(0, offset)).kind).toBe('damaged')
  }
  expect(bytesToSnapshot(Buffer.concat([bytes, Buffer.from('\n')])).kind).toBe('damaged')
})

test.each([
  ['totals.runs', { totals: { runs: -1, contents: [], tables: [] } }],
  ['partitions[0].name', { partitions: [{ name: '../a' }] }],
  ['nextVersion', { nextVersion: undefined }],
])('bytesToSnapshot names the field %s where the form does not fit', async (field, change) => {
  const path = inLake(await lakeOf('a'), snapshotPath(1))
  const { sha256: _, ...root } = JSON.parse(await readFile(path, 'utf8'))
  const body = JSON.stringify({ ...root, ...change }).replace(/\}$/, ',\n')
  const text = `${body}  "sha256": "${sha256Of(body)}"\n}\n`
  expect(bytesToSnapshot(Buffer.from(text))).toEqual({
    kind: 'damaged',
    cut: false,
    reason: `its form does not fit at "snapshot.${field}"`,
  })
})

test('listSnapshots goes by number, and leaves other files alone', async () => {
  const lake = await lakeOf('a')
  await mkdir(inLake(lake, recordPath(1).replace('1.sha256', '9.json.bak')))
  expect(await listSnapshots(lake)).toEqual([1])
})

/** Writes a root anew, its own hash fits. */
const rewriteRoot = async (lake: string, change: (body: string) => string): Promise<void> => {
  const path = inLake(lake, snapshotPath(1))
  const body = change((await readFile(path, 'utf8')).split('\n').slice(0, -3).join('\n').concat('\n'))
  await writeFile(path, `${body}  "sha256": "${sha256Of(body)}"\n}\n`)
}

/** A whole snapshot as a later release may write it: all hashes fit. */
const laterSnapshot = async (
  changeRoot: (body: string) => string,
  changePart: (text: string) => string = (text) => text,
): Promise<string> => {
  const lake = await lakeOf('a')
  for (const name of await filesOf(inLake(lake, PARTS_FOLDER))) {
    const path = inLake(lake, partPath(name))
    const before = await readFile(path, 'utf8')
    const text = changePart(before)
    await writeFile(path, text)
    await rewriteRoot(lake, (body) =>
      body
        .replace(sha256Of(before), sha256Of(text))
        .replace(
          `"bytes":${before.length},"sha256":"${sha256Of(text)}"`,
          `"bytes":${text.length},"sha256":"${sha256Of(text)}"`,
        ),
    )
  }
  await rewriteRoot(lake, changeRoot)
  return lake
}

const later = (body: string): string => body.replace('firmlake 0.1.0', 'firmlake 7.8.9')
const dream = (text: string): string => text.replace('"kind":"file"', '"kind":"dream"')

test('readSnapshot and verifyLake throw LAKE_NEWER for a snapshot of a later format', async () => {
  const lake = await laterSnapshot((body) =>
    later(body).replace(`"format": ${FORMAT}`, `"format": ${FORMAT + 1}`),
  )
  const newer = {
    code: 'LAKE_NEWER',
    message:
      'Cannot read snapshot "_manifest/00000001.json": made by a later release, needs firmlake 7.8.9 or later',
  }
  await expect(readSnapshot(lake)).rejects.toMatchObject(newer)
  await expect(verifyLake({ lake, countRows: countLines })).rejects.toMatchObject(newer)
  await expect(loadSources(lake, ['b'])).rejects.toMatchObject(newer)
})

test.each([1, 2, FORMAT - 1])(
  'readSnapshot, verifyLake and a load throw LAKE_UNRELEASED for a snapshot of format %d',
  async (format) => {
    const lake = await laterSnapshot((body) => body.replace(`"format": ${FORMAT}`, `"format": ${format}`))
    const refusal = {
      code: 'LAKE_UNRELEASED',
      message:
        'Cannot read snapshot "_manifest/00000001.json": it has a format of a build before the first release',
    }
    await expect(readSnapshot(lake)).rejects.toMatchObject(refusal)
    await expect(verifyLake({ lake, countRows: countLines })).rejects.toMatchObject(refusal)
    await expect(loadSources(lake, ['b'])).rejects.toMatchObject(refusal)
  },
)

test('readSnapshot and verifyLake throw LAKE_NEWER for a kind of source that only a later tool knows', async () => {
  const lake = await laterSnapshot(later, dream)
  const newer = {
    code: 'LAKE_NEWER',
    message: expect.stringMatching(
      /^Cannot read "_manifest\/parts\/.*", a part of a snapshot: made by a later release, needs firmlake 7.8.9 or later$/,
    ),
  }
  await expect(readSnapshot(lake)).rejects.toMatchObject(newer)
  await expect(verifyLake({ lake, countRows: countLines })).rejects.toMatchObject(newer)
})

test('readSnapshot reads a partition that several sources share, with the counts of each, and verifyLake adds them up', async () => {
  const shared = (counts: string) =>
    laterSnapshot(
      (body) => body,
      (text) =>
        text.replace(/"sources":\[\{(.*)\}\],"range"/, `"sources":[{$1${counts}},{$1${counts}}],"range"`),
    )
  const counts = (lines: number, records: number): string =>
    `,"counts":{"lines":${lines},"records":${records},"quarantined":${lines - records}}`
  const lake = await shared(counts(2, 1))
  const [partition] = (await readSnapshot(lake)).partitions
  const source = { kind: 'file', name: 'a.jsonl', bytes: 100, sha256: sha256Of('a') }
  expect(partition?.sources).toMatchObject([source, { ...source, counts: { lines: 2, records: 1 } }])
  expect(partition?.source).toMatchObject({
    ...{ name: 'a.jsonl and 1 more', bytes: 200, block: 0, last: true },
    sha256: sha256Of(`${sha256Of('a')}\n`.repeat(2)),
  })
  const problem = expect.stringContaining('3 lines, but 4 of its sources')
  expect((await verifyLake({ lake, countRows: countLines })).problems).toContainEqual(
    expect.objectContaining({ problem: 'counts', detail: problem }),
  )
  await expect(readSnapshot(await shared(''))).rejects.toMatchObject({
    code: 'SNAPSHOT_DAMAGED',
    message: expect.stringContaining('does not fit at "sources[0].counts"'),
  })
})

test('readSnapshot calls a form that fits no release damaged', async () => {
  const lake = await laterSnapshot((body) => body, dream)
  await expect(readSnapshot(lake)).rejects.toMatchObject({
    code: 'SNAPSHOT_DAMAGED',
    message: expect.stringContaining('line 1 does not fit at "sources[0].kind"'),
  })
})
