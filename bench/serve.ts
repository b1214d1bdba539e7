/** Command: `npm run bench:serve`. A lake of many companies is made and served, and its answers are timed. */

import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createBrotliDecompress } from 'node:zlib'
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
  --nights N      then load N times 1 % of the companies again, and build the index of each (0)
`
const { values } = parseArgs({
  options: {
    companies: { type: 'string', default: '100000' },
    folder: { type: 'string' },
    copy: { type: 'boolean', default: false },
    nights: { type: 'string', default: '0' },
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

/** Megabytes of a lake's tables and manifest. */
const roomOf = async (lake: string): Promise<number> => {
  const entries = (await readdir(lake, { withFileTypes: true })).filter(({ name }) => name !== '_serve')
  const sizes = await Promise.all(
    entries.map(async (entry) => {
      const path = join(lake, entry.name)
      return entry.isFile() ? (await stat(path)).size : sizeOf(path)
    }),
  )
  return sizes.reduce((sum, size) => sum + size, 0) / 1e6
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

/** Every hundredth company's line, another hundredth each night. */
const writeNight = async (folder: string, night: number): Promise<string> => {
  const control: Control = JSON.parse(await readFile(join(folder, 'data', 'control.json'), 'utf8'))
  const path = join(folder, `night-${Date.now()}.jsonl`)
  const out = createWriteStream(path)
  let line = 0
  for (const { name } of control.files) {
    const text = createReadStream(join(folder, 'data', name)).pipe(createBrotliDecompress())
    for await (const lines of linesOf(text))
      for (const one of lines) if (line++ % 100 === night % 100) out.write(one)
  }
  out.end()
  await once(out, 'finish')
  return path
}

/** Whole lines with their ends, some at once. */
async function* linesOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<readonly Buffer[]> {
  let rest = Buffer.alloc(0)
  for await (const chunk of bytes) {
    const all = Buffer.concat([rest, chunk])
    const lines: Buffer[] = []
    let from = 0
    for (let end = all.indexOf(LINE_END); end >= 0; end = all.indexOf(LINE_END, from)) {
      lines.push(all.subarray(from, end + 1))
      from = end + 1
    }
    rest = all.subarray(from)
    yield lines
  }
}
const LINE_END = 0x0a

/** Loads 1 % of the companies again, and builds the index of that snapshot. */
const passNight = async (folder: string, lake: string, night: number): Promise<void> => {
  const path = await writeNight(folder, night)
  await measureNode([MAIN, 'convert', path, '--lake', lake])
  await rm(path)
  const copies = join(lake, '_serve')
  const before = await sizeOf(copies)
  const { wallSeconds, cpuSeconds } = await measureNode([BUILD_INDEX, lake])
  const more = ((await sizeOf(copies)) - before) / 1e6
  console.log(
    `Night ${night}: index in ${wallSeconds.toFixed(1)} s, CPU ${cpuSeconds.toFixed(1)} s, ${more.toFixed(1)} MB more on disk`,
  )
}
const BUILD_INDEX = join(import.meta.dirname, 'build-index.ts')

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
    const { wallSeconds, cpuSeconds, peakMegabytes } = await measureNode([BUILD_INDEX, lake])
    const [size, room] = [(await sizeOf(copies)) / 1e6, await roomOf(lake)]
    console.log(
      `Serving index made in ${wallSeconds.toFixed(1)} s, CPU ${cpuSeconds.toFixed(1)} s, ` +
        `peak ${peakMegabytes.toFixed(0)} MiB, ${size.toFixed(0)} MB on disk, ${(size / room).toFixed(2)} times the lake's`,
    )
  }
  for (let night = 1; night <= Number(values.nights); night++) await passNight(folder, lake, night)
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
