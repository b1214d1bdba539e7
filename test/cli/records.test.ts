import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCommand, runCommandJson } from '../support/run-command.ts'
import { errorCode, SAMPLE, SAMPLE_COMPANIES } from './run-cli.ts'

let folder = ''
let lake = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  lake = join(folder, 'lake')
  await runCommandJson(['convert', SAMPLE_COMPANIES, `${SAMPLE}/relations-0001.jsonl.br`, '--lake', lake])
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const records = (...args: string[]): ReturnType<typeof runCommand> =>
  runCommand(['records', '--lake', lake, ...args])

const lineCount = (text: string): number => text.split('\n').length - 1

test('records restores all companies and relations; a lake made of them gives the same', async () => {
  const companies = await records('--content', 'companies')
  const relations = await records('--content', 'relations')
  expect([companies.code, lineCount(companies.stdout)]).toEqual([0, 300])
  expect([relations.code, lineCount(relations.stdout)]).toEqual([0, 270])

  const batch = join(folder, 'companies.jsonl')
  await writeFile(batch, companies.stdout)
  const second = join(folder, 'second')
  await runCommandJson(['convert', batch, '--lake', second, '--max-quarantined', '0'])
  const { stdout } = await runCommand(['records', '--lake', second])
  const sorted = (text: string): string[] => text.trimEnd().split('\n').toSorted()
  expect(isDeepStrictEqual(sorted(stdout), sorted(companies.stdout))).toBe(true)
})

test('records --id gives only the records of these ids, of both contents', async () => {
  const { stdout } = await runCommand([
    'query',
    '--lake',
    lake,
    'SELECT min(internal_id) FROM relations',
    '--format',
    'csv',
  ])
  const id = stdout.split('\r\n')[1] ?? ''
  const found = await records('--id', `${id},1`)
  expect(lineCount(found.stdout)).toBe(2)
  for (const line of found.stdout.trimEnd().split('\n')) expect(line).toContain(id)
  expect([found.code, found.stderr]).toEqual([
    0,
    'warning: the lake has no record of 1 in companies or relations; --all also gives companies that the service does not list any more\n',
  ])
  expect((await records('--id', id)).stderr).toBe('')
  const other = await records('--id', '9223372036854775807,1', '--content', 'relations')
  expect(other.stderr).toBe('warning: the lake has no record of 9223372036854775807, 1 in relations\n')
})

test('records refuses ids that are no whole numbers, and a lake that is not there', async () => {
  expect((await records('--id', '12,x')).code).toBe(2)
  const missing = await runCommand(['records', '--lake', join(folder, 'no'), '--json'])
  expect([missing.code, errorCode(missing)]).toEqual([1, 'LAKE_NOT_FOUND'])
})
