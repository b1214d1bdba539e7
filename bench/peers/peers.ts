/** The ways that a data engineer would pick, and how each is started: a whole process that writes three tables. */

import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

export interface Peer {
  readonly name: string
  /** The program and its arguments. @param shape path of what it knows of the records beforehand */
  readonly command: (shape: string, out: string, files: readonly string[]) => readonly string[]
}

/** Where `.ci/install-tools bench` puts Python with the peers' packages. */
const TOOLS =
  process.env.FIRMLAKE_TEST_TOOLS ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'firmlake-test-tools')
const PYTHON = join(TOOLS, 'bench-python', 'bin', 'python')

const inPython = (name: string, script: string): Peer => ({
  name,
  command: (shape, out, files) => {
    if (!existsSync(PYTHON))
      throw new Error(
        `Cannot run ${name}: there is no "${PYTHON}", expected what .ci/install-tools bench installs`,
      )
    return [PYTHON, join(import.meta.dirname, script), shape, out, ...files]
  },
})

const inNode = (name: string, script: string): Peer => ({
  name,
  command: (shape, out, files) => [process.execPath, join(import.meta.dirname, script), shape, out, ...files],
})

/** Of `npm run bench`, with arguments of its own. */
const ofBench = (name: string, script: string): Peer => ({
  name,
  command: (_, out, files) => [
    process.execPath,
    join(import.meta.dirname, '..', script),
    '--out',
    out,
    ...files,
  ],
})

export const PEERS: readonly Peer[] = [
  inPython('chdb', 'chdb_one_parse.py'),
  ofBench('hand-tuned', 'hand-tuned.ts'),
  inNode('duckdb-map', 'duckdb-map.ts'),
  inPython('orjson-arrow', 'orjson_arrow.py'),
  inPython('dlt-arrow', 'dlt_arrow.py'),
  inPython('polars', 'polars_text.py'),
  inNode('parse-append', 'parse-append.ts'),
  ofBench('json-each', 'straightforward.ts'),
  inPython('spark', 'spark_map.py'),
]
