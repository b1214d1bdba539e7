/**
 * Command: `node bench/ducklake.ts [--files 100,10000,100000] [--out DIR]`. `lake.ducklake` of lakes of so many small files against
 * `lake.duckdb`: what writing takes, at first and after one more commit, and what questions take in DuckDB. Needs the extension
 * ducklake of `.ci/install-tools`. Each figure is of a process of its own.
 */

import { copyFile, mkdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Engine } from '../src/lake/duckdb/engine.ts'
import { literal } from '../src/lake/duckdb/sql.ts'
import { refreshLakeFiles } from '../src/manifest/lake-file/lake-file.ts'
import { duckLakeFile, missingDuckLake } from '../test/support/ducklake.ts'
import { runTool } from '../test/support/needs.ts'
import { companyId, makeLakeOfSmallFiles } from './lake-of-small-files.ts'
import { measureNode, type Usage } from './measure.ts'

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '100,10000,100000' },
    out: { type: 'string', default: join(tmpdir(), 'firmlake-bench') },
    /** Of the processes that are measured. */
    write: { type: 'string' },
    ask: { type: 'string' },
    sql: { type: 'string', default: '' },
  },
})

const FILES = ['lake.duckdb', 'lake.ducklake'] as const
type FileName = (typeof FILES)[number]
const namesOf = (file: FileName): readonly string[] => [file, `${file}.sha256`]

/** What a statement took, in a process that has the extension already. */
interface Asked {
  readonly answer: string
  readonly openMs: number
  readonly cpuMs: number
  readonly wallMs: number
  readonly peakMegabytes: number
}

const cpuMs = (since?: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1e3
}

/** Attaches a file and asks. */
const ask = async (file: string, sql: string): Promise<Asked> => {
  const engine = await Engine.open({ memoryBytes: 1024 ** 3, threads: 2 })
  const session = await engine.connect()
  const isCatalog = file.endsWith('.ducklake')
  if (isCatalog) await session.run(`LOAD ${literal(duckLakeFile())}`)
  const opening = process.cpuUsage()
  await session.run(`ATTACH ${literal(isCatalog ? `ducklake:${file}` : file)} AS lake (READ_ONLY)`)
  await session.run('USE lake')
  const [openMs, asking, started] = [cpuMs(opening), process.cpuUsage(), performance.now()]
  const rows = await session.rows(sql)
  const wallMs = performance.now() - started
  const asked = { answer: JSON.stringify(rows), openMs, cpuMs: cpuMs(asking), wallMs }
  engine.close()
  return { ...asked, peakMegabytes: process.resourceUsage().maxRSS / 1024 }
}

const askIn = (file: string, sql: string): Asked => {
  const { status, stdout, stderr } = runTool(
    process.execPath,
    ...[import.meta.filename, '--ask', file, '--sql', sql],
  )
  if (status !== 0) throw new Error(`Cannot ask "${file}": ${stderr}`)
  return JSON.parse(stdout)
}

const questions = (companies: number): Readonly<Record<string, string>> => ({
  'count(*)': 'SELECT count(*) AS n FROM financials',
  'one company': `SELECT count(value) AS n FROM financials WHERE internal_id = ${companyId(Math.floor(companies / 2))}`,
  'value > 1e15': 'SELECT count(value) AS n FROM financials WHERE value > 1e15',
  'sum(value)': 'SELECT sum(value) AS n FROM financials',
})

const usageText = ({ cpuSeconds, wallSeconds, peakMegabytes }: Usage): string =>
  `CPU ${cpuSeconds.toFixed(2)} s, wall ${wallSeconds.toFixed(2)} s, peak ${peakMegabytes.toFixed(0)} MiB`

/** Writes what is missing or old of both files, in a process of its own. */
const write = (lake: string): Promise<Usage> => measureNode([import.meta.filename, '--write', lake])

const sizeText = async (path: string): Promise<string> => {
  const found = await stat(path).catch(() => null)
  return found === null ? 'none' : `${(found.size / 1e6).toFixed(1)} MB`
}

const removeFiles = async (lake: string, file: FileName): Promise<void> => {
  for (const name of namesOf(file)) await rm(join(lake, name), { force: true })
}

/** Copies a file with its record. */
const copyFiles = async (file: FileName, from: string, to: string): Promise<void> => {
  await mkdir(to, { recursive: true })
  for (const name of namesOf(file)) {
    await rm(join(to, name), { force: true })
    await copyFile(join(from, name), join(to, name)).catch(() => undefined)
  }
}

/** Each file alone: the other one is of the newest snapshot already. */
const measureFirst = async (lake: string): Promise<void> => {
  await write(lake)
  console.log(`  a start that writes nothing: ${usageText(await write(lake))}`)
  for (const file of FILES) {
    await removeFiles(lake, file)
    const usage = await write(lake)
    console.log(`  ${file} written at first: ${usageText(usage)}; ${await sizeText(join(lake, file))}`)
  }
}

/** @param kept folder with the files of the snapshot before */
const measureNext = async (lake: string, kept: string): Promise<void> => {
  await write(lake)
  for (const file of FILES) {
    await copyFiles(file, kept, lake)
    const usage = await write(lake)
    console.log(
      `  ${file} after a commit of one company: ${usageText(usage)}; ${await sizeText(join(lake, file))}`,
    )
  }
}

const measureQuestions = async (lake: string, companies: number): Promise<void> => {
  for (const [name, sql] of Object.entries(questions(companies))) {
    const answers = new Set<string>()
    for (const file of FILES) {
      if ((await sizeText(join(lake, file))) === 'none') continue
      const { answer, openMs, ...asked } = askIn(join(lake, file), sql)
      answers.add(answer)
      console.log(
        `  ${name}, ${file}: opened in ${openMs.toFixed(0)} ms of CPU, CPU ${asked.cpuMs.toFixed(0)} ms, ` +
          `wall ${asked.wallMs.toFixed(0)} ms, peak ${asked.peakMegabytes.toFixed(0)} MiB`,
      )
    }
    if (answers.size > 1)
      throw new Error(`Cannot compare ${name}: the answers differ: ${[...answers].join(', ')}`)
  }
}

const measureLake = async (files: number): Promise<void> => {
  const home = join(values.out, 'ducklake')
  const lake = join(home, 'lake')
  await rm(home, { recursive: true, force: true })
  await mkdir(home, { recursive: true })
  const made = await makeLakeOfSmallFiles(lake, files)
  console.log(`${made.files} files of ${made.companies} companies, a tenth of them twice`)
  await measureFirst(lake)
  await measureQuestions(lake, made.companies)
  for (const file of FILES) await copyFiles(file, lake, join(home, 'kept'))
  await made.commitOne()
  await measureNext(lake, join(home, 'kept'))
  await rm(home, { recursive: true, force: true })
}

if (values.write !== undefined) {
  const reason = await refreshLakeFiles(values.write)
  // Of many files there is no lake.duckdb, which is said too.
  if ((await sizeText(join(values.write, 'lake.ducklake'))) === 'none') throw new Error(reason)
} else if (values.ask !== undefined) {
  console.log(JSON.stringify(await ask(values.ask, values.sql)))
} else {
  const missing = missingDuckLake()
  if (missing !== undefined) throw new Error(`Cannot ask lake.ducklake: ${missing}`)
  for (const files of values.files.split(',').map(Number)) await measureLake(files)
}
