import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { companyLine, openBench } from '../run/batch-bench.ts'
import { runCommand, runCommandJson } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('check ends with 0 or 5, and answers in four forms', async () => {
  const folder = await temporaryFolder()
  const bench = openBench(folder)
  await bench.write('a.jsonl', [companyLine(1), companyLine(2)])
  await bench.run(['a.jsonl'])
  const args = ['check', '--lake', bench.lake, '--max-age', '1d', '--max-gap', '0', '--min-companies', '2']
  const good = await runCommand(args)
  expect([good.code, good.stdout]).toEqual([0, expect.stringContaining('All is as expected.')])
  expect(await runCommandJson([...args, '--json'])).toMatchObject({ snapshot: 1, failed: 0 })
  const none = await runCommand(['check', '--lake', bench.lake, '--no-data'])
  expect([none.code, none.stdout]).toEqual([0, expect.stringContaining('Nothing was checked: ')])

  await mkdir(join(folder, 'rules'))
  await writeFile(join(folder, 'rules', 'a<b.sql'), '-- Every company.\nSELECT internal_id FROM companies;\n')
  const bad = [...args, '--no-data', '--rules', join(folder, 'rules')]
  const junit = await runCommand([...bad, '--format', 'junit'])
  expect([junit.code, junit.stdout]).toEqual([5, expect.stringContaining('tests="4" failures="1"')])
  expect(junit.stdout).toContain('name="a&#60;b"><failure message="found 2, expected no finding"/>')
  const metrics = await runCommand([...bad, '--format', 'prometheus'])
  expect(metrics.code).toBe(5)
  expect(metrics.stdout).toContain(`firmlake_check_failed{lake="${bench.lake}",check="a<b"} 1\n`)
  expect(metrics.stdout).toContain(`firmlake_check_value{lake="${bench.lake}",check="companies"} 2\n`)
  expect((await runCommand([...args, '--max-fall', '5'])).code).toBe(2)
})
