/**
 * Walks the imports of `src/` and `pipelines/`: directions between rooms, circles, one importer for each package. And the
 * exports: a name stands in one room.
 */

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { exportsIn, type Import, importsIn } from './support/imports.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const PROJECT = fileURLToPath(new URL('..', import.meta.url))

const GROUND = ['contract', 'support'] as const
const MIDDLE = [...GROUND, 'analysis', 'core', 'storage', 'lake'] as const
const STAGES = ['source', 'decode', 'check', 'rows', 'load', 'sink', 'manifest', 'publish'] as const

/** What each room may import besides itself. A folder that is not named here is an error. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  support: [],
  core: GROUND,
  storage: ['support', 'core'],
  // One declaration an option; of what stands beside it constants alone.
  options: [...GROUND, 'core', 'check', 'sink'],
  // What firmlake.toml may say, found and checked.
  config: [...GROUND, 'core', 'options'],
  // The SQL of views and macros, and nothing else.
  analysis: ['support'],
  lake: [...GROUND, 'analysis', 'core', 'storage'],
  source: [...MIDDLE, 'options'],
  decode: MIDDLE,
  rows: MIDDLE,
  // A check fills the rows of a record in the same pass.
  check: [...MIDDLE, 'rows'],
  load: [...MIDDLE, 'check', 'rows'],
  sink: MIDDLE,
  manifest: MIDDLE,
  publish: MIDDLE,
  // Records from rows: the inverse of check, rows and load.
  restore: [...MIDDLE, 'rows'],
  commit: [...MIDDLE, 'options', 'load', 'manifest'],
  run: [...MIDDLE, 'options', ...STAGES, 'commit'],
  targets: [...MIDDLE, 'options', 'sink', 'manifest', 'publish', 'run'],
  // From below it takes what reads and restores a lake, and nothing that brings data in.
  server: [...MIDDLE, 'manifest', 'restore', 'sink', 'report'],
  // HTML and charts from rows; knows no lake.
  report: ['support'],
  // The explorer's page.
  web: [],
  // Rules on the data and on the loads of a lake.
  checks: [...MIDDLE, 'options', 'config', 'manifest', 'commit'],
  // What a service is asked for: windows, listings, batch files.
  pull: [...MIDDLE, 'options', ...STAGES, 'commit', 'run'],
  // The kinds of jobs that load, as one table, and those of files.
  kinds: [...MIDDLE, 'options', ...STAGES, 'run', 'pull'],
  // A run that any number of processes work on.
  'shared-run': [...MIDDLE, 'options', ...STAGES, 'commit', 'run', 'pull', 'kinds'],
  compact: [...MIDDLE, 'options', ...STAGES, 'commit', 'run'],
  forget: [...MIDDLE, 'options', ...STAGES, 'restore', 'commit', 'run', 'targets'],
  doctor: [...MIDDLE, 'options', ...STAGES, 'targets', 'server', 'config'],
  // What the command line and a program's index both start, a file for each job.
  jobs: [
    ...[...MIDDLE, 'options', ...STAGES, 'restore', 'commit', 'run', 'targets', 'server', 'report', 'config'],
    ...['checks', 'pull', 'kinds', 'shared-run', 'compact', 'forget', 'doctor'],
  ],
  // A night is made of the jobs.
  nightly: [
    ...[...MIDDLE, 'options', ...STAGES, 'commit', 'run', 'targets', 'config'],
    ...['checks', 'pull', 'kinds', 'jobs'],
  ],
  // What agents ask a lake, over the jobs and the explorer's questions.
  mcp: [...MIDDLE, 'options', 'manifest', 'server', 'checks', 'jobs'],
  // Hears of the stages of runs; knows none of those who do the work.
  observe: [...GROUND, 'core', 'lake'],
  // Hands the steps of a job to an engine.
  engine: [
    ...[...GROUND, 'core', 'storage', 'options', 'manifest', 'commit', 'run', 'source'],
    ...['kinds', 'shared-run', 'jobs'],
  ],
  cli: [
    ...[...MIDDLE, ...STAGES, 'commit', 'run', 'targets', 'server', 'mcp', 'observe', 'config', 'options'],
    ...['checks', 'pull', 'kinds', 'shared-run', 'compact', 'forget', 'doctor', 'jobs', 'engine', 'nightly'],
  ],
  'index.ts': [
    ...[...MIDDLE, ...STAGES, 'options', 'run', 'targets', 'server', 'observe', 'config'],
    ...['checks', 'pull', 'shared-run', 'compact', 'forget', 'doctor', 'jobs', 'nightly'],
  ],
  pipelines: ['index.ts'],
}

/** What the folders of a room may import of it; files that stand in the room itself may import all of it. */
const FOLDERS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  check: {
    scan: [],
    drift: ['scan'],
    figures: ['scan', 'drift'],
    record: ['scan', 'drift', 'figures'],
    quarantine: ['scan'],
  },
  manifest: {
    form: [],
    snapshots: ['form'],
    runs: ['form', 'snapshots'],
    ducklake: ['form', 'snapshots'],
    // The files beside the tables that other tools open.
    'lake-file': ['form', 'snapshots', 'ducklake'],
    gc: ['form', 'snapshots', 'runs', 'lake-file'],
    verify: ['form', 'snapshots', 'runs', 'gc', 'lake-file'],
  },
  run: { work: [] },
  pull: { windows: [], sync: ['windows'], 'batch-files': [] },
  lake: {
    duckdb: [],
    tables: ['duckdb'],
    projection: ['tables', 'duckdb'],
    files: ['tables', 'duckdb'],
    views: ['files', 'projection', 'tables', 'duckdb'],
    // Current rows in parts that fit into memory.
    slices: ['views', 'files', 'tables', 'duckdb'],
    query: ['views', 'files', 'projection', 'tables', 'duckdb'],
    diff: ['query', 'views', 'files', 'tables', 'duckdb'],
    rates: ['files'],
  },
  server: {
    access: [],
    openapi: [],
    ranking: ['access'],
    persons: [],
    'serving-index': ['persons'],
    'serving-index/build': ['serving-index', 'persons', 'ranking'],
    // Files show what a search shows.
    'batch-files': ['search/answer', 'persons', 'serving-index', 'access'],
    'search/shared': ['serving-index', 'ranking', 'access'],
    'search/request': ['search/shared', 'serving-index', 'access'],
    'search/query': ['search/request', 'search/shared', 'serving-index', 'ranking', 'access'],
    'search/answer': ['search/request', 'search/shared', 'persons', 'serving-index', 'access'],
    search: [
      ...['search/answer', 'search/query', 'search/request', 'search/shared'],
      ...['serving-index', 'ranking', 'access'],
    ],
    explorer: ['search/shared', 'persons', 'serving-index', 'access'],
    // HTML of what the explorer's questions answer.
    'explorer/pages': ['explorer', 'access'],
    http: ['explorer', 'explorer/pages', 'search/shared', 'batch-files', 'openapi', 'access'],
    // Handed to http as a layer, which knows nothing of it.
    faults: ['http', 'access'],
  },
}

/** Where each package may be imported: below these paths. A package that is not named here is an error. */
const PACKAGES: Readonly<Record<string, string>> = {
  '@duckdb/node-api': 'src/lake/duckdb/',
  '@duckdb/node-bindings': 'src/lake/duckdb/',
  undici: 'src/source/',
  'p-limit': 'src/support/side-by-side.ts',
  commander: 'src/cli/',
  'toml-eslint-parser': 'src/config/toml-tree.ts',
  fastify: 'src/server/',
  'prom-client': 'src/server/http/',
  '@modelcontextprotocol/server': 'src/mcp/serve-agents.ts',
  'stream-json': 'src/source/',
  '@aws-sdk/client-s3': 'src/storage/s3/',
  '@aws-sdk/lib-storage': 'src/storage/s3/',
  avsc: 'src/publish/iceberg/',
  'apache-arrow': 'src/sink/arrow/',
  pg: 'src/sink/postgres/',
  'pg-copy-streams': 'src/sink/postgres/',
  '@opentelemetry/api': 'src/observe/telemetry.ts',
  '@opentelemetry/sdk-node': 'src/observe/telemetry.ts',
  '@temporalio/activity': 'src/engine/temporal/',
  '@temporalio/client': 'src/engine/temporal/',
  '@temporalio/common': 'src/engine/temporal/',
  '@temporalio/envconfig': 'src/engine/temporal/',
  '@temporalio/worker': 'src/engine/temporal/',
  '@temporalio/workflow': 'src/engine/temporal/',
}

/** Written by `npm run docs`: types alone, which name those of all rooms. */
const GENERATED = 'src/options/interfaces.ts'

/** Rooms that a browser loads. */
const NO_NODE = ['contract', 'web']

/** Every import of the code below a project's `src/` and `pipelines/`, those of types included. */
const importsOf = async (project: string): Promise<Import[]> => {
  const imports: Import[] = []
  for (const folder of ['src', 'pipelines']) {
    const entries = await readdir(join(project, folder), { recursive: true }).catch(() => [])
    const files = entries.map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    for (const file of files.filter((name) => /\.[cm]?[jt]sx?$/.test(name) && name !== GENERATED).sort())
      imports.push(...importsIn(file, await readFile(join(project, file), 'utf8')))
  }
  return imports
}

/** `src/load/loader.ts` → `load`; `src/index.ts` → `index.ts`; `pipelines/…` → `pipelines`. */
const roomOf = (path: string): string => {
  const [first = '', second = ''] = path.split('/')
  return first === 'src' ? second : first
}

/** `src/server/search/query/a.ts` → `search/query`; `''` for a file that stands in the room itself. */
const folderOf = (path: string): string => path.split('/').slice(2, -1).join('/')

const folderProblem = ({ from, to }: Import, room: string): string | undefined => {
  const folders = FOLDERS[room]
  const [folder, other] = [folderOf(from), folderOf(to)]
  if (folders === undefined || folder === '' || folder === other) return undefined
  const allowed = folders[folder]
  if (allowed === undefined) return `"${from}" stands in no folder of ${room}`
  return allowed.includes(other) ? undefined : `"${from}" imports "${to}": ${folder} may not import ${other}`
}

const directionProblem = ({ from, to, kind }: Import): string | undefined => {
  const [room, other] = [roomOf(from), roomOf(to)]
  const allowed = ROOMS[room]
  if (allowed === undefined) return `"${from}" stands in no room`
  if (kind === 'file') {
    if (room === other) return folderProblem({ from, to, kind }, room)
    if (allowed.includes(other)) return undefined
    return `"${from}" imports "${to}": ${room} may not import ${other}`
  }
  if (kind === 'node') return NO_NODE.includes(room) ? `"${from}" imports "${to}" of Node` : undefined
  const place = PACKAGES[to]
  if (place === undefined) return `"${from}" imports package "${to}", which no place may`
  return from.startsWith(place) ? undefined : `"${from}" imports package "${to}", only "${place}" may`
}

/** Circles of files, each as its path from a file back to itself. */
const circlesOf = (imports: readonly Import[]): string[] => {
  const next = Map.groupBy(
    imports.filter(({ kind }) => kind === 'file'),
    ({ from }) => from,
  )
  const finished = new Set<string>()
  const circles: string[] = []
  const visit = (file: string, path: readonly string[]): void => {
    const at = path.indexOf(file)
    if (at >= 0) {
      circles.push(`circle: ${[...path.slice(at), file].join(' → ')}`)
      return
    }
    if (finished.has(file)) return
    for (const { to } of next.get(file) ?? []) visit(to, [...path, file])
    finished.add(file)
  }
  for (const file of next.keys()) visit(file, [])
  return circles
}

const problemsOf = async (project: string): Promise<string[]> => {
  const imports = await importsOf(project)
  return [...imports.flatMap((one) => directionProblem(one) ?? []), ...circlesOf(imports)]
}

/** Names that files of two rooms export, with these files: a reader must not have to ask which one is meant. */
const sharedNames = async (project: string): Promise<string[]> => {
  const names = await readdir(join(project, 'src'), { recursive: true })
  const files = names
    .map((name) => `src/${name.replaceAll('\\', '/')}`)
    .filter((name) => name.endsWith('.ts'))
  const places = new Map<string, string[]>()
  for (const file of files.sort())
    for (const name of exportsIn(await readFile(join(project, file), 'utf8')))
      places.set(name, [...(places.get(name) ?? []), file])
  return [...places]
    .filter(([, where]) => new Set(where.map(roomOf)).size > 1)
    .map(([name, where]) => `${name}: ${where.join(', ')}`)
}

/** Writes a small project. */
const tree = async (files: Readonly<Record<string, string>>): Promise<string> => {
  const project = await temporaryFolder()
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(project, path)), { recursive: true })
    await writeFile(join(project, path), text)
  }
  return project
}

test('the imports of this project go down, in no circle, and each package has its one place', async () => {
  const imports = await importsOf(PROJECT)
  expect(imports.length).toBeGreaterThan(300)
  expect(await problemsOf(PROJECT)).toEqual([])
})

test('files of a lake reach their readers through lake/files/fetch-tables.ts alone, which checks them', async () => {
  const names = await readdir(join(PROJECT, 'src'), { recursive: true })
  const files = names.map((name) => name.replaceAll('\\', '/')).filter((name) => name.endsWith('.ts'))
  const fetching: string[] = []
  for (const file of files.filter((name) => !/^(storage|source)\//.test(name)))
    if (/[sS]torage(Of\([^)]*\))?\.fetch\(/.test(await readFile(join(PROJECT, 'src', file), 'utf8')))
      fetching.push(file)
  expect(fetching).toEqual(['lake/files/fetch-tables.ts'])
})

test('core/brotli.ts alone takes a decoder of Brotli from Node, after it looked at its release', async () => {
  const names = await readdir(join(PROJECT, 'src'), { recursive: true })
  const taking: string[] = []
  for (const name of names.filter((one) => one.endsWith('.ts')))
    if (/brotliDecompress|BrotliDecompress/.test(await readFile(join(PROJECT, 'src', name), 'utf8')))
      taking.push(name.replaceAll('\\', '/'))
  expect(taking).toEqual(['core/brotli.ts'])
})

/** A statement that takes the greatest version, or goes along versions alone. */
const BY_VERSION =
  /\bmax\([^)]*\bversion\b|arg_max\w*\([^(]*, (?:\w+\.)?version\)|ORDER BY(?!.*\bas_of, (?:\w+\.)?version)[^)]*\bversion\b/

test('lake/views/version-order.ts alone says which version of a record is the last', async () => {
  const names = (await readdir(join(PROJECT, 'src'), { recursive: true })).map((name) =>
    name.replaceAll('\\', '/'),
  )
  const found: string[] = []
  for (const name of names.filter((one) => /\.(ts|sql)$/.test(one) && !one.endsWith('/version-order.ts')))
    for (const line of (await readFile(join(PROJECT, 'src', name), 'utf8')).split('\n'))
      if (BY_VERSION.test(line)) found.push(`${name}: ${line.trim()}`)
  expect(found).toEqual([
    // A list of versions is sorted by key: its last versions are not chosen by it.
    expect.stringMatching(
      /^commit\/record-versions\.ts: const sorted = `SELECT \* FROM .* ORDER BY \$\{this\.#keys\}, version, as_of`/,
    ),
  ])
})

test('no two rooms export the same name', async () => {
  expect(await sharedNames(PROJECT)).toEqual([])
})

test('sharedNames names what two rooms declare, and nothing that one passes on or has twice itself', async () => {
  const project = await tree({
    'src/load/a.ts': 'export interface Row {}\nexport const read = 1\nexport async function* rows() {}\n',
    'src/load/b.ts': 'export const read = 2\n',
    'src/sink/c.ts': `export type Row = string\n/* export const read = 3 */\nexport { read } from '../load/a.ts'\n`,
    'src/index.ts': `export * from './load/a.ts'\nexport function rows() {}\n`,
  })
  expect(await sharedNames(project)).toEqual([
    'rows: src/index.ts, src/load/a.ts',
    'Row: src/load/a.ts, src/sink/c.ts',
  ])
})

test('the folders of a room stand in no circle', () => {
  for (const folders of Object.values(FOLDERS)) {
    const between = Object.entries(folders).flatMap(([from, others]) =>
      others.map((to): Import => ({ from, to, kind: 'file' })),
    )
    expect(circlesOf(between)).toEqual([])
  }
})

test('the rooms themselves stand in no circle', () => {
  const between = Object.entries(ROOMS).flatMap(([from, rooms]) =>
    rooms.map((to): Import => ({ from, to, kind: 'file' })),
  )
  expect(circlesOf(between)).toEqual([])
})

test('problemsOf takes imports that go down', async () => {
  const project = await tree({
    'src/run/a.ts': `import { b } from '../load/b.ts'\nimport { readFile } from 'node:fs'`,
    'src/load/b.ts': `import type { C } from '../contract/c.ts'`,
    'src/contract/c.ts': `import { D } from './d.ts'`,
    'src/contract/d.ts': 'export const D = 1',
    'src/lake/duckdb/engine.ts': `import { DuckDBInstance } from '@duckdb/node-api'`,
    'src/index.ts': `export { a } from './run/a.ts'`,
    'pipelines/convert.ts': `import { a } from '../src/index.ts'`,
  })
  expect(await problemsOf(project)).toEqual([])
})

test.each([
  ['an import of a stage by another', 'src/load/a.ts', '../decode/b.ts', 'load may not import decode'],
  ['an import of the run by a stage', 'src/sink/a.ts', '../run/b.ts', 'sink may not import run'],
  ['an import that goes up', 'src/core/a.ts', '../manifest/b.ts', 'core may not import manifest'],
  [
    'an import out of the contract',
    'src/contract/a.ts',
    '../support/b.ts',
    'contract may not import support',
  ],
  ['an import out of support', 'src/support/a.ts', '../contract/b.ts', 'support may not import contract'],
  ['an import of the server by the run', 'src/run/a.ts', '../server/b.ts', 'run may not import server'],
  [
    'an import of a source by the server',
    'src/server/a.ts',
    '../source/b.ts',
    'server may not import source',
  ],
  ['an import of a folder above', 'src/pull/windows/a.ts', '../sync/b.ts', 'windows may not import sync'],
  ['an import of the faults by http', 'src/server/http/a.ts', '../faults/b.ts', 'http may not import faults'],
  [
    'a folder that is not in the table',
    'src/lake/utils/a.ts',
    '../tables/b.ts',
    'stands in no folder of lake',
  ],
  ['an import of the lake by a page', 'src/web/a.ts', '../lake/b.ts', 'web may not import lake'],
  ['an import of the public names', 'src/cli/a.ts', '../index.ts', 'cli may not import index.ts'],
  [
    'a pipeline behind the public names',
    'pipelines/a.ts',
    '../src/core/b.ts',
    'pipelines may not import core',
  ],
  ['an import from the tests', 'src/cli/a.ts', '../../test/b.ts', 'cli may not import test'],
  ['a room that is not in the table', 'src/utils/a.ts', './b.ts', 'stands in no room'],
  ['a part of Node in the contract', 'src/contract/a.ts', 'node:fs', 'of Node'],
  ['a part of Node without its prefix', 'src/contract/a.ts', 'fs', 'of Node'],
  ['DuckDB outside its file', 'src/lake/query/query.ts', '@duckdb/node-api', 'only "src/lake/duckdb/" may'],
  [
    'a part of the DuckDB package',
    'src/load/a.ts',
    '@duckdb/node-api/lib/x.js',
    'only "src/lake/duckdb/" may',
  ],
  ['undici outside the sources', 'src/server/a.ts', 'undici', 'only "src/source/" may'],
  ['p-limit outside its file', 'src/manifest/a.ts', 'p-limit', 'only "src/support/side-by-side.ts" may'],
  ['a new package', 'src/cli/a.ts', 'lodash', 'which no place may'],
])('problemsOf names %s', async (_what, file, specifier, problem) => {
  const project = await tree({ [file]: `import { x } from '${specifier}'\n` })
  expect(await problemsOf(project)).toEqual([expect.stringContaining(problem)])
})

test.each([
  ['of types', `import type { x } from '../decode/b.ts'`],
  ['over several lines', `import {\n  x,\n  type y,\n} from '../decode/b.ts'`],
  ['for its effects', `import '../decode/b.ts'`],
  ['that passes a name on', `export { x } from '../decode/b.ts'`],
  ['that passes all names on', `export * from '../decode/b.ts'`],
  ['while the program runs', `const b = await import('../decode/b.ts')`],
  ['of a type in its place', `type B = import('../decode/b.ts').B`],
  ['in double quotes', `import { x } from "../decode/b.ts"`],
  ['as an address', `new Worker(new URL('../decode/b.ts', import.meta.url))`],
])('problemsOf sees an import %s', async (_how, code) => {
  const project = await tree({ 'src/load/a.ts': `/** A file. */\n\n${code}\n` })
  expect(await problemsOf(project)).toEqual([expect.stringContaining('load may not import decode')])
})

test('problemsOf takes no comment for an import', async () => {
  const project = await tree({
    'src/load/a.ts': `/**\n * import { x } from '../decode/b.ts'\n */\n// import '../decode/b.ts'\nexport {}\n`,
  })
  expect(await problemsOf(project)).toEqual([])
})

test('problemsOf names a circle, also one of types, and its files', async () => {
  const project = await tree({
    'src/load/a.ts': `import { b } from './b.ts'`,
    'src/load/b.ts': `import type { C } from './c.ts'`,
    'src/load/c.ts': `import type { A } from './a.ts'\nimport { d } from './d.ts'`,
    'src/load/d.ts': 'export const d = 1',
  })
  expect(await problemsOf(project)).toEqual([
    'circle: src/load/a.ts → src/load/b.ts → src/load/c.ts → src/load/a.ts',
  ])
})

test('problemsOf names a file that imports itself', async () => {
  const project = await tree({ 'src/load/a.ts': `import type { A } from './a.ts'` })
  expect(await problemsOf(project)).toEqual(['circle: src/load/a.ts → src/load/a.ts'])
})

test('one file alone reads the stored documents of an index, so that each goes through the rule of who may see what', async () => {
  const readers: string[] = []
  for (const name of await readdir(join(PROJECT, 'src'), { recursive: true })) {
    if (!name.endsWith('.ts')) continue
    const text = await readFile(join(PROJECT, 'src', name), 'utf8')
    if (/\.documents\(/.test(text)) readers.push(name.replaceAll('\\', '/'))
  }
  expect(readers).toEqual(['server/search/answer/leaving-documents.ts'])
})
