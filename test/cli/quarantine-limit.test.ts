import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommand, runCommandJson } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { companyLines } from './batches.ts'
import { errorCode } from './run-cli.ts'

const SECRET = 'Ada-Secret-1815'

/** Ten good lines and two bad ones that name a person. */
const badBatch = async (): Promise<{ file: string; lake: string }> => {
  const folder = await temporaryFolder()
  const bad = [
    `{"BasicDetails": {"CompanyName": "${SECRET}"`,
    `{"BasicDetails": {"InternalId": "${SECRET}"}}`,
  ]
  const file = join(folder, 'bad.jsonl')
  await writeFile(file, [...(await companyLines(10)), ...bad].join('\n'))
  return { file, lake: join(folder, 'lake') }
}

test('convert ends with 3 over the limit, quotes no line, and resumes with a higher limit', async () => {
  const { file, lake } = await badBatch()
  const refused = await runCommand(['convert', file, '--lake', lake])
  expect(refused.code).toBe(3)
  expect(refused.stderr).toContain('error QUARANTINE_LIMIT: ')
  expect(refused.stdout + refused.stderr).not.toContain(SECRET)
  const status = await runCommand(['status', '--lake', lake])
  expect(status.stdout).toMatch(/failed with QUARANTINE_LIMIT: Cannot commit run .* 2 of 12 lines are bad/)
  expect(status.stdout).toContain('It would fail again. "firmlake resume" with a higher --max-quarantined')
  expect(status.stdout).not.toContain(SECRET)

  const offered = await runCommand(['resume', '--lake', lake])
  expect(offered).toMatchObject({
    code: 0,
    stdout: 'Nothing to resume: the runs that failed would fail again.\n',
  })
  expect(offered.stderr).toMatch(/failed with QUARANTINE_LIMIT: Cannot commit run/)
  const { resumed, notResumed } = await runCommandJson<{
    readonly resumed: unknown[]
    readonly notResumed: readonly { readonly run: string }[]
  }>(['resume', '--lake', lake])
  expect(resumed).toEqual([])
  expect(notResumed).toMatchObject([{ failure: { code: 'QUARANTINE_LIMIT', final: true } }])
  const byName = await runCommand(['resume', notResumed[0]?.run ?? '', '--lake', lake, '--json'])
  expect(errorCode(lastLine(byName))).toBe('QUARANTINE_LIMIT')

  const accepted = await runCommand(['resume', '--lake', lake, '--max-quarantined', '2'])
  expect(accepted.code).toBe(0)
  expect(accepted.stdout).toContain('12 lines: 10 records, 2 quarantined')
  expect(accepted.stderr).toContain('warning: 2 of 12 lines went to the quarantine')
  expect(accepted.stdout + accepted.stderr).not.toContain(SECRET)
})

/** A report on standard output comes before the error. */
const lastLine = <T extends { readonly stderr: string }>(result: T): T => ({
  ...result,
  stderr: result.stderr.trimEnd().split('\n').at(-1) ?? '',
})

test('convert reports names that the contract does not know', async () => {
  const folder = await temporaryFolder()
  const file = join(folder, 'drift.jsonl')
  const [line = ''] = await companyLines(1)
  await writeFile(file, line.replace('{', '{"NewThing": 1, '))
  const report = await runCommandJson<{ drift: unknown[] }>(['convert', file, '--lake', join(folder, 'lake')])
  expect(report.drift).toEqual([{ kind: 'field', name: 'NewThing', records: 1 }])
  const people = await runCommand(['convert', file, '--lake', join(folder, 'lake'), '--again'])
  expect(people.stdout).toContain('Not in the contract, kept:\n  field NewThing: 1 record\n')
  expect(people.stderr).toContain('warning: 1 name that the contract does not know')
})

test('standard input is loaded, and resume with a higher limit commits what was loaded of it', async () => {
  const { lake } = await badBatch()
  const lines = await companyLines(3)
  const refused = await runCommand(['convert', '-', '--lake', lake, '--content', 'companies'], {
    stdin: [...lines, '{'].join('\n'),
  })
  expect(refused.code).toBe(3)
  expect(await runCommandJson(['resume', '--lake', lake, '--max-quarantined', '1', '--json'])).toMatchObject({
    resumed: [{ records: 3, quarantined: 1, snapshot: 1 }],
  })
})

test('standard input after a refused run is read anew', async () => {
  const { lake } = await badBatch()
  const [line = ''] = await companyLines(1)
  const piped = ['convert', '-', '--lake', lake, '--content', 'companies']
  expect(await runCommand(piped, { stdin: `${line}\n{\n` })).toMatchObject({ code: 3 })
  expect(await runCommandJson(piped, { stdin: line })).toMatchObject({ lines: 1, records: 1, quarantined: 0 })
})
