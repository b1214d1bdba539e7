/**
 * Command: `node bench/ducklake.ts [--files 100,10000,100000] [--out DIR]`. `lake.ducklake` of lakes of so many small files against
 * `lake.duckdb`: CPU, time and peak memory of writing it, at first and after one more commit, and of questions in DuckDB. Needs
 * the extension ducklake of `.ci/install-tools`. Each line is a process of its own; its start is not counted.
 */

import { copyFile, mkdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { textTable } from '../src/cli/output/text-table.ts'
import { Engine } from '../src/lake/duckdb/engine.ts'
import { literal } from '../src/lake/duckdb/sql.ts'
import { refreshLakeFiles } from '../src/manifest/lake-file/lake-file.ts'
import { duckLakeFile, missingDuckLake } from '../test/support/ducklake.ts'
import { runTool } from '../test/support/needs.ts'
import { companyId, makeLakeOfSmallFiles } from './lake-of-small-files.ts'

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '100,10000,100000' },
    out: { type: 'string', default: join(tmpdir(), 'firmlake-bench') },
    // What a process that is measured does: write the files of a lake, or attach a file and run a statement.
    write: { type: 'string' },
    attach: { type: 'string' },
    sql: { type: 'string', default: '' },
  },
})

const FILES = ['lake.duckdb', 'lake.ducklake'] as const
type FileName = (typeof FILES)[number]
const namesOf = (file: FileName): readonly string[] => [file, `${file}.sha256`]

interface Measured {
  readonly answer: string
  readonly cpuMs: number
  readonly wallMs: number
  readonly peakMegabytes: number
}

const measured = async (work: () => Promise<string>): Promise<Measured> => {
  const [before, started] = [process.cpuUsage(), performance.now()]
  const answer = await work()
  const { user, system } = process.cpuUsage(before)
  return {
    answer,
    cpuMs: (user + system) / 1e3,
    wallMs: performance.now() - started,
    peakMegabytes: process.resourceUsage().maxRSS / 1024,
  }
}

const sizeOf = (path: string): Promise<number | undefined> =>
  stat(path).then(
    ({ size }) => size,
    () => undefined,
  )

/** Writes each file that is missing or of an earlier snapshot. */
const write = async (lake: string): Promise<string> => {
  const reason = await refreshLakeFiles(lake)
  // Why there is no lake.duckdb, which lakes of many files do not have, is said too.
  if ((await sizeOf(join(lake, 'lake.ducklake'))) === undefined) throw new Error(reason)
  return ''
}

/** @param sql nothing: the file is only attached */
const ask = async (file: string, sql: string): Promise<Measured> => {
  const engine = await Engine.open({ memoryBytes: 1024 ** 3, threads: 2 })
  try {
    const session = await engine.connect()
    const isCatalog = file.endsWith('.ducklake')
    if (isCatalog) await session.run(`LOAD ${literal(duckLakeFile())}`)
    const attach = async (): Promise<string> => {
      await session.run(`ATTACH ${literal(isCatalog ? `ducklake:${file}` : file)} AS lake (READ_ONLY)`)
      await session.run('USE lake')
      return JSON.stringify(await session.rows('SELECT 1 FROM line_items LIMIT 0'))
    }
    const attached = await measured(attach)
    return sql === '' ? attached : await measured(async () => JSON.stringify(await session.rows(sql)))
  } finally {
    engine.close()
  }
}

/** Runs this file with other arguments. */
const inProcess = (...args: readonly string[]): Measured => {
  const { status, stdout, stderr } = runTool(process.execPath, import.meta.filename, ...args)
  if (status !== 0) throw new Error(`Cannot measure ${args.join(' ')}: it ended with ${status}\n${stderr}`)
  return JSON.parse(stdout)
}

const questions = (companies: number): Readonly<Record<string, string>> => ({
  open: '',
  'count(*)': 'SELECT count(*) AS n FROM financials',
  'one company': `SELECT count(value) AS n FROM financials WHERE internal_id = ${companyId(Math.floor(companies / 2))}`,
  'value > 1e15': 'SELECT count(value) AS n FROM financials WHERE value > 1e15',
  'sum(value)': 'SELECT sum(value) AS n FROM financials',
})

const row = (what: string, file: string, { cpuMs, wallMs, peakMegabytes }: Measured, more: string) => [
  ...[what, file, cpuMs.toFixed(0), wallMs.toFixed(0), peakMegabytes.toFixed(0), more],
]
type Row = ReturnType<typeof row>

/** Writes one file; the other one is of the newest snapshot already. */
const writeRow = async (lake: string, file: FileName, what: string): Promise<Row> => {
  const usage = inProcess('--write', lake)
  const size = await sizeOf(join(lake, file))
  return row(what, file, usage, size === undefined ? 'none' : `${(size / 1e6).toFixed(1)} MB`)
}

/** Copies a file with its record, in place of what is there. */
const copyFiles = async (file: FileName, from: string, to: string): Promise<void> => {
  await mkdir(to, { recursive: true })
  for (const name of namesOf(file)) {
    await rm(join(to, name), { force: true })
    if ((await sizeOf(join(from, name))) !== undefined) await copyFile(join(from, name), join(to, name))
  }
}

const firstRows = async (lake: string): Promise<readonly Row[]> => {
  // What is the same for all lakes is made once on a machine.
  inProcess('--write', lake)
  const rows: Row[] = []
  for (const file of FILES) {
    for (const name of namesOf(file)) await rm(join(lake, name), { force: true })
    rows.push(await writeRow(lake, file, 'written at first'))
  }
  return rows
}

/** @param kept folder with the files of the snapshot before */
const nextRows = async (lake: string, kept: string): Promise<readonly Row[]> => {
  inProcess('--write', lake)
  const rows: Row[] = []
  for (const file of FILES) {
    await copyFiles(file, kept, lake)
    rows.push(await writeRow(lake, file, 'after one more commit'))
  }
  return rows
}

const questionRows = async (lake: string, companies: number): Promise<readonly Row[]> => {
  const rows: Row[] = []
  for (const [what, sql] of Object.entries(questions(companies))) {
    const answers = new Set<string>()
    for (const file of FILES) {
      if ((await sizeOf(join(lake, file))) === undefined) continue
      const asked = inProcess('--attach', join(lake, file), '--sql', sql)
      answers.add(asked.answer)
      rows.push(row(what, file, asked, ''))
    }
    if (answers.size > 1) throw new Error(`Cannot compare ${what}: ${[...answers].join(' is not ')}`)
  }
  return rows
}

const measureLake = async (files: number): Promise<void> => {
  const home = join(values.out, 'ducklake')
  const [lake, kept] = [join(home, 'lake'), join(home, 'kept')]
  await rm(home, { recursive: true, force: true })
  await mkdir(home, { recursive: true })
  const made = await makeLakeOfSmallFiles(lake, files)
  const rows = [...(await firstRows(lake)), ...(await questionRows(lake, made.companies))]
  for (const file of FILES) await copyFiles(file, lake, kept)
  await made.commitOne()
  rows.push(...(await nextRows(lake, kept)))
  const numbers = ['CPU ms', 'wall ms', 'peak MiB', 'size'].map((title) => ({ title, right: true }))
  console.log(`\n${made.files} files, ${made.companies} companies, a tenth of them twice`)
  for (const line of textTable([{ title: 'what' }, { title: 'file' }, ...numbers], rows)) console.log(line)
  await rm(home, { recursive: true, force: true })
}

if (values.write !== undefined) {
  const { write: lake } = values
  console.log(JSON.stringify(await measured(() => write(lake))))
} else if (values.attach !== undefined) {
  console.log(JSON.stringify(await ask(values.attach, values.sql)))
} else {
  const missing = missingDuckLake()
  if (missing !== undefined) throw new Error(`Cannot attach lake.ducklake: ${missing}`)
  for (const files of values.files.split(',').map(Number)) await measureLake(files)
}
