/**
 * Independent readers of published tables: Python with delta-rs, PyIceberg and pyarrow, and Spark with Delta and
 * Iceberg. `.ci/install-tools` puts them where these look.
 */

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const TOOLS =
  process.env.FIRMLAKE_TEST_TOOLS ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'firmlake-test-tools')
const PYTHON = join(TOOLS, 'python', 'bin', 'python')
const JARS = join(TOOLS, 'jars')

const jarPaths = (): string[] =>
  existsSync(JARS)
    ? readdirSync(JARS)
        .filter((name) => name.endsWith('.jar'))
        .map((name) => join(JARS, name))
    : []

/** What is missing for Python and its readers; for `needs`. */
export const pythonMissing = (): string | undefined =>
  existsSync(PYTHON) ? undefined : `no "${PYTHON}"; run .ci/install-tools`

/** What is missing to read workbooks of Excel with openpyxl; for `needs`. */
export const openpyxlMissing = (): string | undefined => {
  if (pythonMissing() !== undefined) return pythonMissing()
  const { status } = spawnSync(PYTHON, ['-c', 'import openpyxl'])
  return status === 0 ? undefined : 'no openpyxl; run .ci/install-tools'
}

/** Python with DuckDB of another release than ours, and pandas; what is missing is for `needs`. */
export const duckdbPython = (
  release: 'older' | 'newer',
): { readonly python: string; readonly missing: string | undefined } => {
  const python = join(TOOLS, `duckdb-${release}`, 'bin', 'python')
  return { python, missing: existsSync(python) ? undefined : `no "${python}"; run .ci/install-tools` }
}

/** Python with a scheduler of the examples; what is missing is for `needs`. */
export const schedulerPython = (
  name: 'airflow' | 'dagster',
): { readonly python: string; readonly missing: string | undefined } => {
  const python = join(TOOLS, name, 'bin', 'python')
  return { python, missing: existsSync(python) ? undefined : `no "${python}"; run .ci/install-tools` }
}

const DUCKDB = join(TOOLS, 'bin', 'duckdb')

/** What is missing for DuckDB's command line; for `needs`. */
export const duckdbCliMissing = (): string | undefined =>
  existsSync(DUCKDB) ? undefined : `no "${DUCKDB}"; run .ci/install-tools`

/**
 * Runs statements in DuckDB's command line, after a preparation whose answers do not count.
 *
 * @param file a database, read only; `:memory:`: none
 * @returns the rows of each statement
 * @throws {Error} with what it says, where a statement fails
 */
export const askDuckdbCli = (
  file: string,
  statements: readonly string[],
  preparation = '',
): readonly (readonly Readonly<Record<string, unknown>>[])[] => {
  const mark = '---next---'
  const access = file === ':memory:' ? [] : ['-readonly']
  const script = [preparation, ...statements.flatMap((sql) => [`.print ${mark}`, `${sql};`])].join('\n')
  const { status, stdout, stderr } = spawnSync(DUCKDB, [...access, '-bail', '-json', file], {
    input: script,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 ** 2,
    env: { ...process.env, HOME: '/nonexistent', TZ: 'UTC' },
  })
  if (status !== 0 || stderr !== '') throw new Error(`DuckDB ended with ${status}: ${stderr}`)
  return stdout
    .split(mark)
    .slice(1)
    .map((text) => JSON.parse(text))
}

/** What is missing for Spark; for `needs`. */
export const sparkMissing = (): string | undefined => {
  if (pythonMissing() !== undefined) return pythonMissing()
  if (jarPaths().length === 0) return `no jars in "${JARS}"; run .ci/install-tools`
  return spawnSync('java', ['-version']).status === 0 ? undefined : 'no "java"; run .ci/install-tools'
}

/** Python with pyspark. */
export const sparkPython = PYTHON

/** Where pyspark stands: a cluster starts its executors from there. */
export const sparkHome = (): string => {
  const found = spawnSync(PYTHON, ['-c', 'import pyspark; print(pyspark.__path__[0])'], { encoding: 'utf8' })
  return found.stdout.trim()
}

/** A Python process that runs one script after the other. */
export interface PythonSession {
  /**
   * Runs a script that finds `input` and leaves `result`, both JSON; with Spark it finds `spark` too. Names that a
   * script makes are gone in the next one.
   *
   * @throws {Error} with Python's traceback
   */
  readonly run: <T>(script: string, input?: unknown) => Promise<T>
  readonly close: () => Promise<void>
}

/** Answers go to the output that Python was started with; whatever a script prints goes to the errors. */
const SERVE = `
import json, os, sys, traceback
answers = os.fdopen(os.dup(1), 'w')
os.dup2(2, 1)
shared = {}
exec(os.environ['FIRMLAKE_PRELUDE'], shared)
shared.pop('__builtins__', None)
for line in sys.stdin:
    asked = json.loads(line)
    scope = dict(shared, input=asked['input'])
    try:
        exec(asked['script'], scope)
        answer = {'result': scope.get('result')}
        text = json.dumps(answer, default=str)
    except BaseException:
        text = json.dumps({'error': traceback.format_exc()})
    answers.write(text + '\\n')
    answers.flush()
`

const openSession = async (prelude: string, env: NodeJS.ProcessEnv = {}): Promise<PythonSession> => {
  const child = spawn(PYTHON, ['-c', SERVE], {
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', FIRMLAKE_PRELUDE: prelude, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let noise = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    noise = (noise + text).slice(-20_000)
  })
  child.stdin.on('error', () => undefined)
  const ended = once(child, 'close')
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  let last: Promise<unknown> = Promise.resolve()

  const ask = async <T>(script: string, input: unknown): Promise<T> => {
    child.stdin.write(`${JSON.stringify({ script, input: input ?? null })}\n`)
    const { value, done } = await answers.next()
    if (done) throw new Error(`Python ended: ${noise}`)
    const answer: { readonly result: T; readonly error?: string } = JSON.parse(value)
    if (answer.error !== undefined) throw new Error(answer.error)
    return answer.result
  }

  return {
    run: <T>(script: string, input?: unknown): Promise<T> => {
      const answer = last.then(() => ask<T>(script, input))
      last = answer.catch(() => undefined)
      return answer
    },
    close: async () => {
      child.stdin.end()
      await ended
    },
  }
}

/** Python with deltalake, pyiceberg and pyarrow. Start it once for a file of tests, and close it. */
export const openPython = (): Promise<PythonSession> => openSession('')

/** What every Spark session has: both table formats, little memory, UTC, no web page. */
const SPARK_SETTINGS: Readonly<Record<string, string>> = {
  'spark.master': 'local[2]',
  'spark.driver.memory': '1g',
  // Small data on few cores: most of the time is the start of the machine itself.
  'spark.driver.extraJavaOptions': '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC',
  'spark.driver.host': '127.0.0.1',
  'spark.driver.bindAddress': '127.0.0.1',
  'spark.ui.enabled': 'false',
  'spark.ui.showConsoleProgress': 'false',
  'spark.sql.shuffle.partitions': '1',
  'spark.databricks.delta.snapshotPartitions': '1',
  'spark.sql.session.timeZone': 'UTC',
}

export interface SparkOptions {
  /** Folder that Spark may write to: its warehouse. */
  readonly folder: string
  /** Settings of the session, over those that every session has. */
  readonly settings?: Readonly<Record<string, string>>
}

/** Python with a Spark session, `spark`; it takes about 15 seconds to start. */
export const openSpark = ({ folder, settings = {} }: SparkOptions): Promise<PythonSession> => {
  const all = {
    ...SPARK_SETTINGS,
    'spark.jars': jarPaths().join(','),
    'spark.sql.warehouse.dir': join(folder, 'warehouse'),
    'spark.local.dir': folder,
    ...settings,
  }
  return openSession(
    `
import json, os
from pyspark.sql import SparkSession
builder = SparkSession.builder.appName('readers')
for key, value in json.loads(os.environ['FIRMLAKE_SPARK']).items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel('ERROR')
`,
    { FIRMLAKE_SPARK: JSON.stringify(all) },
  )
}

/** Settings that let Spark read Delta tables by their paths. */
export const SPARK_WITH_DELTA: Readonly<Record<string, string>> = {
  'spark.sql.extensions': 'io.delta.sql.DeltaSparkSessionExtension',
  'spark.sql.catalog.spark_catalog': 'org.apache.spark.sql.delta.catalog.DeltaCatalog',
}
