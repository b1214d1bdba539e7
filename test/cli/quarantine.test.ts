import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { companyLine, openBench } from '../run/batch-bench.ts'
import { runCommand, runCommandJson } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { companyLines } from './batches.ts'
import { errorCode } from './run-cli.ts'

const SECRET = 'Ada-Secret-1815'

/** Three good lines, then one with an id that is no number and one that is no JSON. */
const quarantineLake = async (
  limit: string,
): Promise<{ lake: string; result: Awaited<ReturnType<typeof runCommand>> }> => {
  const folder = await temporaryFolder()
  const bad = [`{"BasicDetails": {"InternalId": "${SECRET}"}}`, `{"${SECRET}`]
  const file = join(folder, 'bad.jsonl')
  await writeFile(file, [...(await companyLines(3)), ...bad].join('\n'))
  const lake = join(folder, 'lake')
  return {
    lake,
    result: await runCommand(['convert', file, '--lake', lake, '--max-quarantined', limit, '--json']),
  }
}

test('quarantine list shows where lines stand and what is wrong, and their text only with --raw', async () => {
  const { lake } = await quarantineLake('2')
  const listed = await runCommand(['quarantine', 'list', '--lake', lake])
  expect(listed.code).toBe(0)
  expect(listed.stdout).toMatch(/bad\.jsonl +4 +\d+ +\d+ +ID_NOT_WHOLE /)
  expect(listed.stderr).toContain('In all: 1 ID_NOT_WHOLE, 1 NOT_JSON')
  expect(listed.stdout + listed.stderr).not.toContain(SECRET)

  const hidden = await runCommandJson<Record<string, unknown>[]>(['quarantine', 'list', '--lake', lake])
  expect(hidden).toMatchObject([
    { line: 4, code: 'ID_NOT_WHOLE', content: 'companies' },
    { line: 5, code: 'NOT_JSON', size_bytes: SECRET.length + 2 },
  ])
  expect(Object.keys(hidden[0] ?? {})).not.toContain('raw')
  const args = ['quarantine', 'list', '--lake', lake, '--code', 'NOT_JSON', '--raw']
  expect(await runCommandJson(args)).toMatchObject([{ line: 5, raw: `{"${SECRET}` }])
})

test('quarantine list --run shows the lines of a run that was refused', async () => {
  const { lake, result } = await quarantineLake('0')
  expect([result.code, errorCode(result)]).toEqual([3, 'QUARANTINE_LIMIT'])
  const { unfinished } = await runCommandJson<{ unfinished: { run: string }[] }>(['status', '--lake', lake])
  const listed = await runCommandJson([
    'quarantine',
    'list',
    '--lake',
    lake,
    '--run',
    unfinished[0]?.run ?? '',
  ])
  expect(listed).toMatchObject([{ line: 4 }, { line: 5 }])
  const unknown = ['quarantine', 'list', '--lake', lake, '--run', 'no-run', '--json']
  expect((await runCommand(unknown)).code).toBe(1)
})

test('replay loads what another limit lets pass, and leaves the rest where it is', async () => {
  const folder = await temporaryFolder()
  const [line = ''] = await companyLines(1)
  const file = join(folder, 'deep.jsonl')
  await writeFile(file, [line, '{'].join('\n'))
  const lake = join(folder, 'lake')
  await runCommandJson(['convert', file, '--lake', lake, '--max-depth', '2', '--max-quarantined', '2'])
  const replay = ['quarantine', 'replay', '--lake', lake]

  expect((await runCommand([...replay, '--source', 'other*'])).stdout).toContain('Nothing to replay')
  expect((await runCommand([...replay, '--max-depth', '2'])).stdout).toContain('No line could be loaded')
  expect(await runCommandJson([...replay, '--source', '*deep.jsonl'])).toMatchObject({
    snapshot: 2,
    records: 1,
    quarantined: 1,
  })
  expect(await runCommandJson(['quarantine', 'list', '--lake', lake])).toMatchObject([
    { line: 2, code: 'NOT_JSON' },
  ])
})

test('quarantine list says whether the quarantine is empty or has other lines', async () => {
  const bench = openBench(await temporaryFolder())
  await bench.write('good.jsonl', [companyLine(1)])
  await bench.run(['good.jsonl'])
  const list = ['quarantine', 'list', '--lake', bench.lake]
  expect((await runCommand(list)).stdout).toBe('The quarantine is empty.\n')
  expect((await runCommand([...list, '--code', 'TOO_DEEP'])).stdout).toBe(
    'The quarantine holds no such line.\n',
  )
})
