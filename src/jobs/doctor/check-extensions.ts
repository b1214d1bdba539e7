/** Whether DuckDB's extensions can be fetched from here: httpfs is installed into a folder that goes away. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ownCode } from '../../support/own-files.ts'
import type { MachineFinding } from './finding.ts'

const CODE = ownCode('jobs/doctor/install-process')

/** @param repository where DuckDB fetches from @default DuckDB's own */
export const checkExtensions = async (limitMs: number, repository = ''): Promise<MachineFinding> => {
  const folder = await mkdtemp(join(tmpdir(), 'firmlake-doctor-'))
  try {
    const child = spawn(process.execPath, [fileURLToPath(CODE), folder, repository], {
      // The file that is named here is not what is asked for.
      env: { ...process.env, FIRMLAKE_HTTPFS: '' },
      stdio: 'ignore',
      timeout: limitMs,
      killSignal: 'SIGKILL',
    })
    const [code, signal]: unknown[] = await once(child, 'exit')
    if (code === 0)
      return { about: 'extensions', state: 'well', says: 'extensions of DuckDB can be installed' }
    const why = signal === null ? 'it is not reached, or refuses' : `no answer within ${limitMs / 1000} s`
    return {
      about: 'extensions',
      state: 'absent',
      says: `extensions of DuckDB cannot be installed from "${repository || 'extensions.duckdb.org'}": ${why}`,
      mend: 'bring the file of httpfs to this machine, and name it in FIRMLAKE_HTTPFS',
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
