/** The script of `examples/` on a cluster of Spark: two executors, each a process of its own. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { companyLines, hashLake, openBench } from '../run/batch-bench.ts'
import { needs } from '../support/needs.ts'
import { sparkHome, sparkMissing, sparkPython } from '../support/readers.ts'
import { MAIN } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// Two clusters that start, and a process for each unit.
vi.setConfig({ testTimeout: 600_000 })

const EXAMPLE = fileURLToPath(new URL('../../examples/spark_workers.py', import.meta.url))

/** The rows of each table, hashed; the histories say which run brought them. */
const currentRows = async (lake: string): Promise<unknown> =>
  Object.entries(await hashLake(lake)).filter(([name]) => !name.endsWith('_history'))

/** Runs the example below a folder. @returns its exit code */
const spark = async (folder: string, master: string, firmlake: string): Promise<number | null> => {
  const settings = {
    'spark.driver.host': '127.0.0.1',
    'spark.driver.bindAddress': '127.0.0.1',
    'spark.ui.enabled': 'false',
    'spark.ui.showConsoleProgress': 'false',
    'spark.executor.memory': '512m',
    // They end before better code would be worth its making.
    'spark.driver.extraJavaOptions': '-XX:TieredStopAtLevel=1',
    'spark.executor.extraJavaOptions': '-XX:TieredStopAtLevel=1',
    'spark.local.dir': folder,
  }
  const conf = Object.entries(settings).map(([name, value]) => `--conf ${name}=${value}`)
  let said = ''
  const child = spawn(sparkPython, [EXAMPLE, 'lake', 'in', '--unit-bytes', '1'], {
    cwd: folder,
    env: {
      ...process.env,
      SPARK_HOME: sparkHome(),
      PYSPARK_PYTHON: sparkPython,
      PYSPARK_SUBMIT_ARGS: `--master ${master} ${conf.join(' ')} pyspark-shell`,
      FIRMLAKE: `sh ${firmlake}`,
      PAUSE: '0',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(() => void child.kill())
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4000)
  })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0 && code !== 4) throw new Error(`Spark ended with ${code}: ${said}`)
  return code
}

/** firmlake, but for unit 1, whose first attempt ends with a code. */
const failingOnce = async (folder: string, code: number): Promise<string> => {
  const [path, mark] = [join(folder, `firmlake-${code}.sh`), join(folder, `attempted-${code}`)]
  const script = `case "$*" in *'--unit 1') [ -e ${mark} ] || { : > ${mark}; exit ${code}; } ;; esac
cd ${folder}
exec ${process.execPath} ${MAIN} "$@"
`
  await writeFile(path, script)
  await chmod(path, 0o755)
  return path
}

test('the executors of Spark load a run to the rows of one machine, and Spark tries again what may be', async (context) => {
  needs(context, 'Spark, which .ci/install-tools installs', sparkMissing())
  const one = openBench(await temporaryFolder())
  for (let at = 0; at < 3; at += 1) await one.write(`in/${at}.jsonl`, companyLines(5, at * 5 + 1))
  // What fails the same each time is not tried again, and nothing is committed.
  expect(await spark(one.folder, 'local[2]', await failingOnce(one.folder, 4))).toBe(4)
  // The same run goes on.
  expect(await spark(one.folder, 'local-cluster[2,1,1024]', await failingOnce(one.folder, 1))).toBe(0)
  const whole = openBench(await temporaryFolder())
  await whole.run(['in'], { cwd: one.folder })
  expect(await currentRows(one.lake)).toEqual(await currentRows(whole.lake))
  expect((await one.snapshot()).snapshot).toBe(1)
})
