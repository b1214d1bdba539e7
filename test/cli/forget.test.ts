/** `forget` as a person runs it: right and wrong use, what it prints, and what it must not print. */

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { convert } from '../../src/jobs/convert.ts'
import { report } from '../../src/jobs/report.ts'
import { every } from '../report/read-report.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { errorCode } from './run-cli.ts'

/** Ids that stand in no other number. */
const [COMPANY, PERSON] = [48151623, 42108151]
const NATIONAL = '19121212-1212'

const LINES = [COMPANY, 1].map((id) =>
  JSON.stringify({ BasicDetails: { InternalId: id, CompanyName: `Company ${id}`, CountryCode: 'SE' } }),
)
const RELATIONS = JSON.stringify({
  InternalId: 1,
  Parents: [
    { InternalId: PERSON, Name: 'Ann Ek', NationalIdentificationNumber: NATIONAL, CountryCode: 'SE' },
  ],
})

const loaded = async (): Promise<{
  readonly lake: string
  readonly file: (text: string) => Promise<string>
}> => {
  const folder = await temporaryFolder()
  const lake = join(folder, 'lake')
  const file = async (text: string): Promise<string> => {
    const path = join(folder, 'ids.txt')
    await writeFile(path, text)
    return path
  }
  await writeFile(join(folder, 'companies.jsonl'), `${LINES.join('\n')}\n`)
  await writeFile(join(folder, 'relations.jsonl'), `${RELATIONS}\n`)
  await convert({ from: ['companies', 'relations'].map((name) => join(folder, `${name}.jsonl`)), lake })
  return { lake, file }
}

const IDS = new RegExp(`${COMPANY}|${PERSON}|${NATIONAL}|${NATIONAL.replace('-', '')}`)

test('forget says what it would do, does it, leaves a receipt, and prints no id', {
  timeout: 60_000,
}, async () => {
  const { lake, file } = await loaded()
  const ids = ['--company', String(COMPANY), '--national-ids', await file(`\n ${NATIONAL}\r\nunknown\n`)]
  const planned = await runCommand(['forget', '--lake', lake, ...ids, '--country', 'se', '--dry-run'])
  expect([planned.code, planned.stderr]).toEqual([0, ''])
  expect(planned.stdout).toContain('Would forget 1 company and 1 person in snapshot 1.')
  expect(planned.stdout).toContain('1 national id not known to the lake.')
  const done = await runCommand(['forget', '--lake', lake, ...ids, '--country', 'SE'])
  expect([done.code, done.stderr]).toEqual([0, ''])
  expect(done.stdout).toContain('Snapshot 2: 1 company and 1 person forgotten.')
  expect(done.stdout).toMatch(/^kind +files rewritten +rows$/m)
  expect(done.stdout).toMatch(/^companies +1 +1$/m)
  expect(done.stdout).toContain('Older snapshots removed: 1\n')
  expect(done.stdout).toContain('Not reached:\n')
  const bothIds = ['--company', String(COMPANY), '--person', String(PERSON)]
  const again = await runCommand(['forget', '--lake', lake, ...bothIds])
  expect(again.code).toBe(0)
  expect(again.stdout).toContain('Nothing to do: the lake holds nothing of 1 company and 1 person.')
  const status = await runCommand(['status', '--lake', lake])
  expect(status.stdout).toMatch(/Snapshot 2 of \S+ \S+ UTC has forgotten 1 company and 1 person/)
  const older = await runCommand(['query', 'FROM companies', '--lake', lake, '--snapshot', '1', '--json'])
  expect([older.code, errorCode(older)]).toEqual([1, 'SNAPSHOT_FORGOTTEN'])
  const to = join(lake, '..', 'report.html')
  await report({ lake, to })
  const page = await readFile(to, 'utf8')
  const receipt = every(
    page.split('id="forgotten"')[1]?.split('</table>')[0] ?? '',
    /<t[hd](?: class="n"| scope="row")?>(.*?)<\/t[hd]>/g,
  )
  expect(receipt).toMatchObject([
    '2',
    expect.any(String),
    '1',
    '1',
    'companies 1, relations 1, relation_entities 1',
    '3',
  ])
  const outputs = [planned, done, again, status, older].map(({ stdout, stderr }) => stdout + stderr)
  for (const text of [...outputs, page]) expect(text).not.toMatch(IDS)
})

test.each(['\n', '\r\n', '\r'])('forget finds national ids in lines that end with %j', async (end) => {
  const { lake, file } = await loaded()
  const ids = await file(['unknown', NATIONAL, ''].join(end))
  const { stdout } = await runCommand([
    'forget',
    '--lake',
    lake,
    '--national-ids',
    ids,
    '--dry-run',
    '--json',
  ])
  expect(JSON.parse(stdout)).toMatchObject({ kind: 'planned', persons: 1, unresolved: 1 })
})

test('forget reads national ids from standard input', async () => {
  const { lake } = await loaded()
  const { code, stdout } = await runCommand(['forget', '--lake', lake, '--national-ids', '-', '--json'], {
    stdin: NATIONAL,
  })
  expect([code, JSON.parse(stdout)]).toMatchObject([
    0,
    { kind: 'forgotten', companies: 0, persons: 1, unresolved: 0 },
  ])
})

test('forget lists the records that lose their unknown fields, then counts them, and names no person', async () => {
  const folder = await temporaryFolder()
  const [lake, path] = [join(folder, 'lake'), join(folder, 'relations.jsonl')]
  await writeFile(
    path,
    `${JSON.stringify({ ...JSON.parse(RELATIONS), Note: 'Ask Ek, Ann', Count: PERSON })}\n`,
  )
  await convert({ from: [path], lake })
  const given = ['forget', '--lake', lake, '--person', String(PERSON)]
  const planned = await runCommand([...given, '--dry-run'])
  const done = await runCommand(given)
  expect([planned.code, done.code]).toEqual([0, 0])
  expect(planned.stdout).toMatch(/^record +company\n─.*\nrelations +1\n\n/m)
  expect(done.stdout).toContain('Records of others, unknown fields removed: 1\n')
  for (const { stdout, stderr } of [planned, done]) expect(stdout + stderr).not.toMatch(/Ann|42108151/)
  const again = await runCommand([...given, '--json'])
  expect(JSON.parse(again.stdout)).toMatchObject({ unknown: 0, recordsStripped: 0 })
})

test('forget of ids that the lake does not know fails, and changes nothing', async () => {
  const { lake, file } = await loaded()
  const ids = ['--company', '77', '--person', '78', '--national-ids', await file('19000101-0000\n')]
  for (const more of [[], ['--dry-run'], ['--json']]) {
    const { code, stdout, stderr } = await runCommand(['forget', '--lake', lake, ...ids, ...more])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('IDS_UNKNOWN')
    expect(stderr).toContain('none of the 3 ids is in its newest snapshot')
    expect(stderr).not.toMatch(/19000101/)
  }
  const status = await runCommand(['status', '--lake', lake])
  expect(status.stdout).not.toContain('has forgotten')
})

test('forget refuses wrong use, and repeats no id', async () => {
  const lake = join(await temporaryFolder(), 'none')
  const wrong = [
    [],
    ['--company', `${COMPANY}x`],
    ['--person', NATIONAL],
    ['--company', '9223372036854775808'],
    ['--company', String(COMPANY), '--allow-later', '--refuse-later'],
    ['--company', String(COMPANY), '--country', 'SE'],
    ['--national-ids', join(lake, 'no-such-file')],
    ['--company', '9223372036854775807'],
  ]
  const codes: (readonly [number | null, string])[] = []
  for (const given of wrong) {
    const result = await runCommand(['forget', '--lake', lake, '--json', ...given])
    expect(result.stdout + result.stderr).not.toMatch(IDS)
    codes.push([result.code, errorCode(result)])
  }
  expect(codes).toEqual([
    ...Array.from({ length: 6 }, () => [2, 'USAGE']),
    [1, 'SOURCE_UNREADABLE'],
    [1, 'LAKE_NOT_FOUND'],
  ])
})
