import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { cli } from './run-cli.ts'

test('demo converts the sample and answers two questions; the second time with the same answers', async () => {
  const cwd = await temporaryFolder()
  const [first, second] = [await cli(['demo'], { cwd }), await cli(['demo'], { cwd })]
  expect([first.code, second.code]).toEqual([0, 0])
  expect(first.stdout).toContain('1,710 lines: 1,710 records, 0 quarantined')
  expect(second.stdout).toContain('Nothing new to load: the lake stays as it is.')
  const answers = ({ stdout }: { stdout: string }): string => stdout.slice(stdout.indexOf('== Net sales of'))
  expect(answers(first)).toMatch(/\nSE +159 +145 +91\.2\n/)
  expect(answers(second)).toBe(answers(first))
  expect(await cli(['status', '--lake', join(cwd, 'lake')])).toMatchObject({ code: 0 })
})
