import { cp, mkdtemp, rm, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FORMAT } from '../../src/manifest/form/root-form.ts'
import { runCommand, runCommandJson } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { errorCode, SAMPLE, SAMPLE_COMPANIES } from './run-cli.ts'

interface Status {
  readonly snapshot: number | null
  readonly contents: readonly { readonly content: string; readonly records: number }[]
  readonly tables: readonly { readonly table: string; readonly rows: number }[]
  readonly unfinished: readonly unknown[]
  readonly partitionList?: readonly { readonly source: string }[]
}

let folder = ''
let lake = ''

/** A lake with two snapshots of one file, for commands that only read. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  lake = join(folder, 'lake')
  await runCommandJson(['convert', SAMPLE_COMPANIES, '--lake', lake])
  await runCommandJson(['convert', SAMPLE_COMPANIES, '--lake', lake, '--again'])
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** A copy of the lake that may be harmed. */
const copiedLake = async (): Promise<string> => {
  const copy = join(await temporaryFolder(), 'lake')
  await cp(lake, copy, { recursive: true })
  return copy
}

describe('convert', () => {
  test('prints the run, its counts and tables; a second time there is nothing new', async () => {
    const args = ['convert', SAMPLE, '--lake', join(await temporaryFolder(), 'lake')]
    const first = await runCommand(args)
    expect(first.code).toBe(0)
    expect(first.stdout).toMatch(
      /^Snapshot 1 by run \S+\n1,710 lines: 1,710 records, 0 quarantined; 6 sources/,
    )
    expect(first.stdout).toMatch(/\nfinancials +47,697\n/)
    expect(first.stdout).toContain('control.json: not a companies or relations file')
    // Where the machine is slow, lines of progress stand between.
    expect(first.stderr).toMatch(/^Run \S+ begins\n(.*\n)*Committing 6 partitions\n$/)
    const second = await runCommand(args)
    expect(second.code).toBe(0)
    expect(second.stdout).toMatch(/^Nothing new to load: the lake stays as it is\.\n/)
  })

  test('with --json prints one report and no remarks', async () => {
    const args = ['convert', SAMPLE_COMPANIES, '--lake', join(await temporaryFolder(), 'lake')]
    const { stdout, stderr } = await runCommand([...args, '--json'])
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toMatchObject({
      snapshot: 1,
      partitions: 1,
      lines: 300,
      records: 300,
      quarantined: 0,
      rows: { companies: 300 },
      skipped: [],
      decodedBytes: 717_233,
    })
  })

  test('names a path that is not there and ends with 1', async () => {
    const result = await runCommand(['convert', '/no/such/file', '--lake', folder, '--json'])
    expect(result.code).toBe(1)
    expect(errorCode(result)).toBe('SOURCE_NOT_FOUND')
  })
})

describe('status', () => {
  test('prints contents and tables', async () => {
    const { code, stdout } = await runCommand(['status', '--lake', lake])
    expect(code).toBe(0)
    expect(stdout).toContain(', snapshot 2 of ')
    expect(stdout).toMatch(/\ncompanies +300 +2 +1 +253 kB +600 +600 +0 /)
  })

  test('with --json is one object; --snapshot goes back, --partitions adds a list', async () => {
    const status = await runCommandJson<Status>(['status', '--lake', lake, '--snapshot', '1', '--partitions'])
    expect(status).toMatchObject({ snapshot: 1, contents: [{ content: 'companies', records: 300 }] })
    expect(status.partitionList).toHaveLength(1)
    expect(status.unfinished).toEqual([])
  })

  test.each([
    [['--lake', '/no/such/lake'], 'LAKE_NOT_FOUND'],
    [['--snapshot', '9'], 'SNAPSHOT_NOT_FOUND'],
  ])('%j ends with 1 and %s', async (args, code) => {
    const result = await runCommand(['status', '--lake', lake, ...args, '--json'])
    expect([result.code, errorCode(result)]).toEqual([1, code])
  })
})

test('status --manifest prints the JSON of a snapshot as it stands', async () => {
  const { code, stdout } = await runCommand(['status', '--manifest', '--lake', lake, '--snapshot', '1'])
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ format: FORMAT, snapshot: 1, parent: null })
})

describe('verify', () => {
  test('says what it has checked when the lake is whole', async () => {
    const { code, stdout } = await runCommand(['verify', '--lake', lake])
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^Verified: 2 snapshots, \d+ files, .* rows match the manifest\.\n$/),
    ])
  })

  test('ends with 1 and names a file that is cut and one that is missing', async () => {
    const copy = await copiedLake()
    const { partitions } = await runCommandJson<{ partitions: { files: { path: string }[] }[] }>([
      'status',
      '--manifest',
      '--lake',
      copy,
    ])
    const [cut, missing] = partitions.flatMap(({ files }) => files.map(({ path }) => path))
    await truncate(join(copy, cut ?? ''), 100)
    await rm(join(copy, missing ?? ''))
    const result = await runCommand(['verify', '--lake', copy, '--json'])
    expect([result.code, errorCode(result)]).toEqual([1, 'LAKE_DAMAGED'])
    const found: { ok: boolean; problems: { path: string; problem: string }[] } = JSON.parse(result.stdout)
    expect(found.ok).toBe(false)
    expect(found.problems.map(({ path, problem }) => [path, problem]).toSorted()).toEqual(
      [
        [cut, 'cut'],
        [missing, 'missing'],
      ].toSorted(),
    )
    const people = await runCommand(['verify', '--lake', copy])
    expect(people.stdout).toContain(`cut      ${cut}`)
    expect(people.stderr).toContain('error LAKE_DAMAGED: ')
  })
})

test('gc tells what it would remove, and removes it', async () => {
  const copy = await copiedLake()
  const planned = await runCommand(['gc', '--lake', copy, '--keep', '1', '--dry-run'])
  expect([planned.code, planned.stdout]).toEqual([0, expect.stringMatching(/^Would remove 1 snapshot/)])
  expect(await runCommandJson(['gc', '--lake', copy, '--keep', '1'])).toMatchObject({
    dryRun: false,
    snapshots: [1],
    runs: [],
  })
  expect((await runCommand(['gc', '--lake', copy])).stdout).toBe('Nothing to remove.\n')
})

test('resume with nothing to resume says so', async () => {
  const { code, stdout } = await runCommand(['resume', '--lake', lake])
  expect([code, stdout]).toEqual([0, 'Nothing to resume: no run was interrupted.\n'])
  const named = await runCommand(['resume', '20200101T000000000Z-000000', '--lake', lake, '--json'])
  expect([named.code, errorCode(named)]).toEqual([1, 'RUN_NOT_FOUND'])
})
