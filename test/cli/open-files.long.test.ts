/** Commands of a process that may open few files: they say so, and take nothing for damaged. */

import { spawnSync } from 'node:child_process'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { companyLines, openBench } from '../run/batch-bench.ts'
import { needs } from '../support/needs.ts'
import { MAIN } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const COMMANDS = [
  ['query', 'SELECT count(*) FROM financials'],
  ['verify'],
  ['records'],
  ['publish', 'delta'],
  ['convert', 'more.jsonl', '--skip-bad-files', '--max-quarantined', '0'],
] as const

/** A command whose process may have so many files open. */
const withFiles = (limit: number, args: readonly string[], cwd: string) =>
  spawnSync('sh', ['-c', 'ulimit -n "$0" && exec "$@"', String(limit), process.execPath, MAIN, ...args], {
    ...{ cwd, encoding: 'utf8' },
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
  })

test('a command with too few file handles ends with OPEN_FILES_LIMIT or is done, whatever it was about to open', async (context) => {
  if (process.platform === 'win32') return needs(context, 'a limit of open files', 'Windows has none')
  const one = openBench(await temporaryFolder())
  for (let at = 0; at < 12; at += 1) {
    await one.write(`${at}.jsonl`, companyLines(2, at * 2 + 1))
    await one.run([`${at}.jsonl`])
  }
  await one.write('more.jsonl', companyLines(3, 100))
  // What Node itself needs differs from release to release.
  let min = 16
  while (withFiles(min, ['--version'], one.folder).status !== 0) min += 1
  const codes = new Map<string, number>()
  for (const limit of [min, min + 2, min + 4, 100])
    for (const args of COMMANDS) {
      const lake = join(one.folder, `lake-${limit}-${args[0]}`)
      await cp(one.lake, lake, { recursive: true })
      const { status, stderr } = withFiles(limit, [...args, '--lake', lake], one.folder)
      // Where Node cannot even load its modules, nothing of ours speaks.
      const code = status === 0 ? 'done' : (/error ([A-Z_]+):/.exec(stderr)?.[1] ?? 'not loaded')
      expect(
        ['done', 'OPEN_FILES_LIMIT', ...(limit < 100 ? ['not loaded'] : [])],
        `${limit} ${args.join(' ')}: ${stderr}`,
      ).toContain(code)
      if (code === 'OPEN_FILES_LIMIT') expect(stderr).toContain('ulimit -n')
      codes.set(code, (codes.get(code) ?? 0) + 1)
    }
  expect(codes.get('OPEN_FILES_LIMIT')).toBeGreaterThan(2)
  expect(codes.get('done')).toBeGreaterThan(COMMANDS.length - 1)
}, 240_000)
