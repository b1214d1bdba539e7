/** The nights of `examples/` in Airflow and Dagster: what each makes of the exit codes of a night. */

import { spawn } from 'node:child_process'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { needs, runTool } from '../support/needs.ts'
import { PROJECT } from '../support/page.ts'
import { schedulerPython } from '../support/readers.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// A scheduler starts in ten seconds.
vi.setConfig({ testTimeout: 600_000 })

/** A command whose nights end one after the other as a list says. */
const NIGHTS = `[ "$1" = status ] && { echo '{}'; exit 0; }
code=$(head -n 1 codes); sed -i 1d codes
case $code in
  held) echo '{"parts":[],"error":{"code":"LOAD_HELD","message":"Snapshot 2 is held back"}}'; exit 5 ;;
  0) echo '{"outcome":"done","parts":[{"snapshot":3,"records":7},{"snapshot":4}]}' ;;
  *) echo '{"parts":[],"error":{"code":"OTHER","message":"it failed"}}' ;;
esac
exit $code
`

const folderWith = async (codes: readonly string[]): Promise<string> => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'nights.sh'), NIGHTS)
  await writeFile(join(folder, 'codes'), `${codes.join('\n')}\n`)
  return folder
}

const WITH_READER = `
import json, sys
sys.path.insert(0, sys.argv[1])
from dagster import asset, materialize
from dagster_lake import lake

@asset(deps=["lake"])
def reader():
    return 1

result = materialize([lake, reader], raise_on_error=False)
count = lambda kind: sum(one.event_type_value == kind for one in result.all_events)
made = [one.asset_key.to_user_string() for one in result.all_events if one.is_step_materialization]
print(json.dumps([result.success, made, count("STEP_SKIPPED"), count("STEP_UP_FOR_RETRY")]))
`

test.for([
  ['a night that is done', ['0'], [true, ['lake', 'reader'], 0, 0]],
  ['a busy service, then an error that passes', ['75', '1', '0'], [true, ['lake', 'reader'], 0, 2]],
  ['records that did not come', ['6'], [true, ['lake', 'reader'], 0, 0]],
  ['a load that is held back', ['held'], [true, [], 1, 0]],
  ['a check that fails', ['5'], [false, [], 0, 0]],
  ['an error that comes again', ['4', '0'], [false, [], 0, 0]],
] as const)('the asset of Dagster: %s', async ([, codes, expected], context) => {
  const { python, missing } = schedulerPython('dagster')
  needs(context, 'Dagster, which .ci/install-tools installs', missing)
  const folder = await folderWith(codes)
  await writeFile(join(folder, 'with_reader.py'), WITH_READER)
  const script = `cd '${folder}' && FIRMLAKE='sh nights.sh' PAUSE=0 '${python}' with_reader.py '${join(PROJECT, 'examples')}' 2>/dev/null`
  expect(JSON.parse(runTool('sh', '-c', script).stdout)).toEqual(expected)
})

/** Runs the DAG until its task has a state. */
const airflowState = async (python: string, folder: string): Promise<string | undefined> => {
  const airflow = join(dirname(python), 'airflow')
  const dags = join(folder, 'dags')
  await mkdir(dags)
  await copyFile(join(PROJECT, 'examples', 'airflow_lake.py'), join(dags, 'airflow_lake.py'))
  const env = {
    ...process.env,
    ...{ AIRFLOW_HOME: folder, AIRFLOW__CORE__DAGS_FOLDER: dags, AIRFLOW__CORE__LOAD_EXAMPLES: 'False' },
    ...{ FIRMLAKE: 'sh nights.sh', LAKE_FOLDER: folder },
  }
  const script = `'${airflow}' db migrate && '${airflow}' dags reserialize && exec '${airflow}' dags test firmlake_nightly`
  const child = spawn('sh', ['-c', script], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let said = ''
  return new Promise((resolve) => {
    const read = (chunk: Buffer): void => {
      said += chunk.toString()
      // What waits or is tried again waits for minutes.
      const [, state] = /new_state=(\w+)/.exec(said) ?? []
      if (state !== undefined) resolve(state)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.on('close', () => resolve(/new_state=(\w+)/.exec(said)?.[1]))
  })
}

test.for([
  ['a night that is done', '0', 'success'],
  ['a load that is held back waits without a worker', 'held', 'up_for_reschedule'],
  ['a busy service', '75', 'up_for_reschedule'],
  ['an error that passes', '1', 'up_for_retry'],
  ['a check that fails', '5', 'failed'],
] as const)('the task of Airflow: %s', async ([, code, state], context) => {
  const { python, missing } = schedulerPython('airflow')
  needs(context, 'Airflow, which .ci/install-tools installs', missing)
  expect(await airflowState(python, await folderWith([code]))).toBe(state)
})
