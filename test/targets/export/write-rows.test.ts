import { existsSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryName, thisProcess } from '../../../src/support/process-identity.ts'
import { openWorkshop } from '../../../src/targets/export/write-rows.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const NOBODY = 65_534

/** Root may remove everything: the rest of the test is somebody else's. */
const asNobody = (): void => {
  if (process.getuid?.() !== 0) return
  process.seteuid?.(NOBODY)
  onTestFinished(() => process.seteuid?.(0))
}

test('openWorkshop removes what dead processes left, and leaves what it may not remove', async () => {
  const folder = await temporaryFolder()
  await chmod(folder, 0o777)
  const dead = (): string => join(folder, temporaryName({ ...thisProcess(), pid: 2 ** 30 }))
  const [others, own] = [dead(), dead()]
  await mkdir(others)
  await writeFile(join(others, 'rows.parquet'), '')
  await chmod(others, 0o555)
  onTestFinished(() => chmod(others, 0o755))
  asNobody()
  await mkdir(own)
  const workshop = await openWorkshop(folder)
  expect([others, own, workshop.folder].map(existsSync)).toEqual([true, false, true])
})
