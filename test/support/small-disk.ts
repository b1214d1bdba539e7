/** Disks that are soon full. */

import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished, type TestContext } from 'vitest'
import { needs, runTool } from './needs.ts'

/** A folder on a disk of its own, unmounted when the test is over. Skips the test where nothing can be mounted. */
export const smallDisk = async (context: TestContext, sizeBytes: number): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'firmlake-disk-'))
  const options = ['-t', 'tmpfs', '-o', `size=${sizeBytes}`, 'tmpfs', folder]
  const { status, stderr, error } = runTool('mount', ...options)
  onTestFinished(async () => {
    if (status === 0) runTool('umount', '--lazy', folder)
    await rm(folder, { recursive: true, force: true })
  })
  const missing = status === 0 ? undefined : (error?.message ?? stderr.trim())
  needs(context, 'root and "mount", to make a small disk', missing)
  return folder
}

/** Fills a disk until so many bytes are free. @returns the file to remove for more room */
export const leaveRoom = async (disk: string, bytes: number): Promise<string> => {
  const filler = join(disk, 'filler')
  const { bavail, bsize } = await statfs(disk)
  await writeFile(filler, Buffer.alloc(Math.max(0, bavail * bsize - bytes)))
  return filler
}
