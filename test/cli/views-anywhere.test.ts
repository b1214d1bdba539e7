/** The views of a lake open from any folder, however the lake was named. */

import { spawnSync } from 'node:child_process'
import { copyFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { companyLine, openBench } from '../run/batch-bench.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** What a DuckDB of a process of its own answers, which works in another folder. */
const answersFrom = (cwd: string, questions: readonly string[]): unknown => {
  const binding = import.meta.resolve('@duckdb/node-api')
  const code = `
    const { DuckDBInstance } = await import(${JSON.stringify(binding)})
    const answers = []
    for (const question of ${JSON.stringify(questions)}) {
      const connection = await (await DuckDBInstance.create(':memory:')).connect()
      let rows = []
      for (const sql of question.split(';\\n').filter((one) => one.trim() !== ''))
        rows = (await connection.runAndReadAll(sql)).getRows()
      answers.push(rows)
    }
    console.log(JSON.stringify(answers))`
  // By its input: an argument may have no more than 128 KB.
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-'], {
    cwd,
    input: code,
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}

test.each(['lake', './lake', 'way/lake'])(
  'lake.duckdb and views of a lake named "%s" open from another folder',
  async (lake) => {
    const { folder, write } = openBench(await temporaryFolder())
    const elsewhere = await temporaryFolder()
    await symlink(folder, join(folder, 'way'))
    await write('a.jsonl', [companyLine(1, { BasicDetails: { InternalId: 1, CompanyName: 'One' } })])
    const run = (...args: string[]) => runCommand(args, { cwd: folder, env: { FIRMLAKE_LAKE: '' } })
    const [committed, file] = [join(folder, 'committed.duckdb'), join(folder, 'lake/lake.duckdb')]
    expect((await run('convert', 'a.jsonl', '--lake', lake)).code).toBe(0)
    await copyFile(file, committed)
    expect((await run('verify', '--lake', lake, '--repair')).code).toBe(0)
    const { stdout } = await run('views', '--lake', lake)
    const questions = [
      ...[committed, file].map(
        (one) => `ATTACH '${one}' AS l (READ_ONLY);\nSELECT company_name FROM l.companies`,
      ),
      `${stdout.trim()}\nSELECT company_name FROM companies`,
    ]
    expect(answersFrom(elsewhere, questions)).toEqual(questions.map(() => [['One']]))
  },
)
