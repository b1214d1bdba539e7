import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { stringsBelow } from '../support/all-bytes.ts'
import { type CommandOptions, runCommand, runCommandJson } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { errorCode } from './run-cli.ts'

const EMAIL = `mark-of-email-${'x'.repeat(20)}`
const NAME = `mark-of-name-${'x'.repeat(20)}`
const FIRMLAKE_HASH_KEY = 'a key of more than sixteen bytes'

/** The texts of all files below a folder. */
const sheetsOf = async (folder: string): Promise<readonly string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return Promise.all(files.map((entry) => readFile(join(entry.parentPath, entry.name), 'utf8')))
}

const codeOf = async (args: readonly string[], options?: CommandOptions): Promise<string> =>
  errorCode(await runCommand([...args, '--json'], options))

/** A folder with two companies, a bad line and the relations of one. */
const opened = async (): Promise<{ readonly folder: string; readonly lake: string }> => {
  const folder = await temporaryFolder()
  await mkdir(join(folder, 'in'))
  const company = (id: number, country: string): string =>
    JSON.stringify({ BasicDetails: { InternalId: id, CountryCode: country, Email: EMAIL, OrgNo: `${id}` } })
  const relations = {
    InternalId: 1,
    CountryCode: 'NO',
    Parents: [{ InternalId: 5, IsCompany: false, Name: NAME }],
  }
  await writeFile(
    join(folder, 'in/companies.jsonl'),
    `${company(1, 'NO')}\n${company(2, 'SE')}\n{"${EMAIL}\n`,
  )
  await writeFile(join(folder, 'in/relations.jsonl'), `${JSON.stringify(relations)}\n`)
  return { folder, lake: join(folder, 'lake') }
}

const ANY = ['--max-quarantined', '100%']

test('firmlake.toml declares what every load takes, and commands say what cannot come back', async () => {
  const { folder, lake } = await opened()
  const toml = [
    ...[`lake = "${lake}"`, '[load]', 'max_quarantined = "100%"'],
    ...['[take]', 'only_countries = ["NO"]', 'leave_out = ["persons"]', 'hash = ["companies.org_no"]'],
    ...['hash_key_env = "MY_KEY"', '[sink_take]', 'mask = ["companies.org_no=hidden"]'],
  ]
  await writeFile(join(folder, 'firmlake.toml'), toml.join('\n'))
  const at = { cwd: folder, env: { MY_KEY: FIRMLAKE_HASH_KEY } }
  const report = await runCommandJson(['convert', 'in', '--sink', `csv:${folder}/out`], at)
  expect(report).toMatchObject({ lines: 4, records: 2, quarantined: 1, filtered: 1 })
  expect(await stringsBelow(lake, [EMAIL, NAME, FIRMLAKE_HASH_KEY])).toEqual([])
  expect(await stringsBelow(join(folder, 'out'), ['hidden'])).toEqual(['hidden'])
  const records = await runCommand(['records'], at)
  expect(records.stderr).toContain(
    'Not all that came was taken: only countries NO; left out: persons; hashed with key',
  )
  expect(records.stdout).not.toContain('Email')
  expect((await runCommand(['status'], at)).stdout).toContain('Not all that came was taken')
  const other = ['convert', 'in', '--again', '--leave-out', 'companies.email']
  expect(await codeOf(other, at)).toBe('PROJECTION_CHANGED')
  expect(await codeOf(['quarantine', 'replay'], at)).toBe('TEXT_REDACTED')
})

test('firmlake.toml declares computed columns of the lake and of what sinks receive', async () => {
  const { folder, lake } = await opened()
  const toml = [
    ...[`lake = "${lake}"`, '[load]', 'max_quarantined = "100%"'],
    ...['[take]', 'compute = ["companies.mail=email IS NOT NULL", "relations.home=country_code || \'-\'"]'],
    ...['[sink_take]', 'compute = ["companies.twice=2 * internal_id"]', 'leave_out = ["persons"]'],
  ]
  await writeFile(join(folder, 'firmlake.toml'), toml.join('\n'))
  const at = { cwd: folder }
  const report = await runCommandJson(['convert', 'in', '--sink', `csv:${folder}/out`], at)
  expect(report).toMatchObject({ lines: 4, records: 3, quarantined: 1 })
  expect(
    await runCommandJson(
      ['query', 'SELECT mail, home FROM companies JOIN relations USING (internal_id)'],
      at,
    ),
  ).toEqual([{ mail: true, home: 'NO-' }])
  const [sheet = ''] = await sheetsOf(join(folder, 'out/companies'))
  expect(sheet).toMatch(/,mail,home,twice|,mail,twice/)
  expect(sheet).toMatch(/,false,2\r?\n.*,false,4\r?\n/)
  expect(await stringsBelow(join(folder, 'out'), [EMAIL, NAME])).toEqual([])
  expect((await runCommand(['status'], at)).stdout).toContain(
    'Computed columns: companies.mail = email IS NOT NULL',
  )
  const records = await runCommand(['records'], at)
  expect(records.stderr).not.toContain('Not all that came was taken')
  expect(records.stdout).not.toContain('"mail"')
  const published = await runCommand(['publish', 'delta'], at)
  expect(published.stderr).toContain(
    'Published tables have no computed columns: companies.mail, relations.home',
  )
  // The text of bad lines is kept: nothing is hidden in the lake.
  expect((await runCommand(['quarantine', 'replay'], at)).stderr).not.toContain('TEXT_REDACTED')
  const other = ['convert', 'in', '--again', '--compute', 'companies.mail=email']
  expect(await codeOf(other, at)).toBe('PROJECTION_CHANGED')
  expect(await codeOf(['convert', 'in', '--compute', 'companies.mail'], at)).toBe('PROJECTION_INVALID')
})

test('workers of a run each need the key, which no plan holds', async () => {
  const { folder, lake } = await opened()
  const env = { FIRMLAKE_HASH_KEY }
  const plan = ['convert', '--plan-only', join(folder, 'in'), '--lake', lake, '--hash', 'persons']
  const { run } = await runCommandJson<{ readonly run: string }>(plan, { env })
  const work = ['run', 'work', run, '--lake', lake, '--shard', '0/1']
  expect(await codeOf(work)).toBe('HASH_KEY_WRONG')
  const other = { FIRMLAKE_HASH_KEY: 'another key of some bytes' }
  expect(await codeOf(work, { env: other })).toBe('HASH_KEY_WRONG')
  await runCommandJson(work, { env })
  expect(await stringsBelow(lake, [FIRMLAKE_HASH_KEY])).toEqual([])
  await runCommandJson(['run', 'commit', run, '--lake', lake, ...ANY])
  expect(await stringsBelow(lake, [EMAIL, NAME])).toEqual([])
  const rows = await runCommandJson([
    'query',
    '--lake',
    lake,
    'SELECT length(name) AS n FROM relation_entities',
  ])
  expect(rows).toEqual([{ n: 64 }])
})

test('convert --to writes what is taken', async () => {
  const { folder } = await opened()
  const to = ['--to', `jsonl:${folder}/out`, '--leave-out', 'persons', '--where', 'internal_id = 1']
  await runCommandJson(['convert', join(folder, 'in'), ...to, ...ANY])
  expect(await stringsBelow(join(folder, 'out'), [EMAIL, NAME])).toEqual([])
  const wrong = ['convert', join(folder, 'in'), ...to.slice(0, 2), '--mask', 'companies.email']
  expect(await codeOf(wrong)).toBe('PROJECTION_INVALID')
})
