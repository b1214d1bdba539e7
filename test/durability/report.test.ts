/** The file of a report: an earlier one stays until the new one is whole. */

import { spawnSync } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { armFaults, disarmFaults, openFailingWrites, type PlannedFault } from '../support/failing-writes.ts'
import { needs } from '../support/needs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const CHILD = fileURLToPath(new URL('child-report.ts', import.meta.url))
const [EARLIER, LATER] = ['earlier'.repeat(5000), 'later'.repeat(9000)]

test('a report that is killed or finds the disk full at any of its writes leaves the earlier one or the new one, and no file beside it for long', async (context) => {
  const faults = openFailingWrites()
  if ('missing' in faults) return needs(context, 'a library that fails writing calls', faults.missing)
  onTestFinished(() => faults.remove())
  const folder = await temporaryFolder()
  const to = join(folder, 'report.html')
  const write = (fault: PlannedFault) => {
    armFaults(faults.control, folder, fault)
    const { stdout, signal } = spawnSync(process.execPath, [CHILD, to, LATER], {
      env: { ...process.env, ...faults.env, NODE_NO_WARNINGS: '1' },
      encoding: 'utf8',
    })
    return { ...disarmFaults(faults.control), said: stdout.trim(), signal }
  }
  const { of } = write({ kind: 'kill', once: true, nth: 0 })
  expect((await readFile(to, 'utf8')) === LATER).toBe(true)
  for (const kind of ['kill', 'ENOSPC'] as const) {
    expect(of[kind]).toBeGreaterThan(1)
    for (let nth = 1; nth <= of[kind]; nth += 1) {
      await writeFile(to, EARLIER)
      const { said, signal, failed } = write({ kind, once: true, nth })
      expect([EARLIER, LATER].includes(await readFile(to, 'utf8'))).toBe(true)
      if (kind === 'kill') expect(signal).toBe('SIGKILL')
      else expect([failed, said, await readdir(folder)]).toEqual([1, 'DISK_FULL', ['report.html']])
    }
  }
  // A killed process leaves its unfinished file; the next one removes it.
  expect(write({ kind: 'kill', once: true, nth: 0 }).said).toBe('')
  expect(await readdir(folder)).toEqual(['report.html'])
})
