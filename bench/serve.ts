/** Command: `npm run bench:serve`. A lake of many companies is made and served, and its answers are timed. */

import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Control } from '../data/control.ts'
import { writeSample } from '../data/sample.ts'
import { measureNode } from './measure.ts'
import { type Measured, measureAnswers } from './serve-answers.ts'
import { MAIN, startServer } from './server-process.ts'

const HELP = `Makes a lake of invented companies of about 10 KB each, serves it, and times the answers.

  npm run bench:serve -- [options]

  --companies N   (100000)
  --folder DIR    folder for the data and the lake, kept and used again (in the temporary folder)
  --copy          make the serving index again, also where there is one
`
const { values } = parseArgs({
  options: {
    companies: { type: 'string', default: '100000' },
    folder: { type: 'string' },
    copy: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const exists = async (path: string): Promise<boolean> => (await stat(path).catch(() => null)) !== null

/** Bytes of a folder's files; those that several indexes share count once. */
const sizeOf = async (folder: string): Promise<number> => {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  const files = entries.filter((entry) => entry.isFile())
  const found = await Promise.all(files.map((entry) => stat(join(entry.parentPath, entry.name))))
  return [...new Map(found.map(({ ino, size }) => [ino, size])).values()].reduce((sum, size) => sum + size, 0)
}

/** The lake in a folder, made where there is none. */
const lakeIn = async (folder: string, companies: number): Promise<string> => {
  const data = join(folder, 'data')
  const lake = join(folder, 'lake')
  if (!(await exists(join(data, 'control.json')))) {
    await mkdir(folder, { recursive: true })
    await writeSample(
      data,
      { companies, seed: 1, files: 2, small: false, awkward: 0.05, content: ['companies'] },
      1,
    )
  }
  const control: Control = JSON.parse(await readFile(join(data, 'control.json'), 'utf8'))
  const { records, values: figures, decodedBytes } = control.companies
  if (records !== companies) {
    throw new RangeError(`Cannot use "${folder}": it holds ${records} companies, expected ${companies}`)
  }
  console.log(`${records} companies of ${Math.round(decodedBytes / records)} bytes, ${figures} figures`)
  if (!(await exists(join(lake, '_manifest')))) {
    await rm(lake, { recursive: true, force: true })
    const files = control.files.map(({ name }) => join(data, name))
    const { wallSeconds, cpuSeconds } = await measureNode([MAIN, 'convert', ...files, '--lake', lake])
    console.log(`Converted in ${wallSeconds.toFixed(1)} s, CPU ${cpuSeconds.toFixed(1)} s`)
  }
  return lake
}

const row = ({ name, aim, times }: Measured): readonly string[] => {
  const sorted = [...times].sort((a, b) => a - b)
  const at = (share: number): string =>
    (sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN).toFixed(1)
  return [name, String(times.length), at(0.5), at(0.9), at(1), aim === null ? '' : `< ${aim}`]
}

const printTable = (rows: readonly (readonly string[])[]): void => {
  const widths =
    rows[0]?.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0))) ?? []
  for (const cells of rows) {
    const padded = cells.map((cell, at) =>
      at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0),
    )
    console.log(padded.join('  ').trimEnd())
  }
}

const main = async (): Promise<void> => {
  const companies = Number(values.companies)
  const folder = values.folder ?? join(tmpdir(), `firmlake-bench-serve-${companies}`)
  const lake = await lakeIn(folder, companies)
  const copies = join(lake, '_serve')
  if (values.copy) await rm(copies, { recursive: true, force: true })
  if (!(await exists(copies))) {
    const making = await startServer(lake)
    const { cpuSeconds, peakMegabytes } = await making.usage()
    await making.stop()
    const size = (await sizeOf(copies)) / 1e6
    console.log(
      `Serving index made in ${making.startSeconds.toFixed(1)} s, CPU ${cpuSeconds.toFixed(1)} s, ` +
        `peak ${peakMegabytes.toFixed(0)} MiB, ${size.toFixed(0)} MB on disk`,
    )
  }
  const server = await startServer(lake)
  try {
    const measured = await measureAnswers(server)
    const { cpuSeconds, peakMegabytes } = await server.usage()
    printTable([['milliseconds', 'requests', 'median', '90 %', 'most', 'aim'], ...measured.map(row)])
    console.log(
      `Start ${server.startSeconds.toFixed(2)} s (aim < 2), peak ${peakMegabytes.toFixed(0)} MiB (aim < 1024), ` +
        `CPU ${cpuSeconds.toFixed(1)} s in all`,
    )
  } finally {
    await server.stop()
  }
}

if (values.help) console.log(HELP)
else await main()
