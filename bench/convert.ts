/** Command: `npm run bench`. The same conversion by us and by two others, in turn, as whole processes. */

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { textTable } from '../src/cli/output/text-table.ts'
import { type Contender, contenders, SOURCE } from './contenders.ts'
import { checkRows } from './count-rows.ts'
import { cachedDataset } from './dataset.ts'
import { measureNode, median, type NodeUsage } from './measure.ts'

/** A night has one file of so many MB. */
const MOST_IN_ONE_FILE = 100

const HELP = `Converts Brotli files of company lines to Parquet, by ours and by two other ways: the usual load, one file, and a large one in two.

  npm run bench -- [options]

  --mb N,N     decoded sizes in MB; up to ${MOST_IN_ONE_FILE} in one file (24,100,400)
  --runs N     rounds; in each every contender runs once, in turn (5)
  --only A,B   contenders: ours, straightforward, hand-tuned (all)
  --main FILE  entry of ours, as of a build: dist/cli/main.js (src/cli/main.ts)
  --out DIR    folder for the data, the lakes and result.json (in the temporary folder)
`
const { values } = parseArgs({
  options: {
    mb: { type: 'string', default: '24,100,400' },
    runs: { type: 'string', default: '5' },
    only: { type: 'string' },
    main: { type: 'string', default: SOURCE },
    out: { type: 'string', default: join(tmpdir(), 'firmlake-bench') },
    help: { type: 'boolean', default: false },
  },
})

type Name = Contender['name']
type Round = Readonly<Partial<Record<Name, NodeUsage>>>

/** What is compared, by what it is called. */
const COMPARED = { wall: 'wallSeconds', CPU: 'cpuSeconds' } as const
type Compared = keyof typeof COMPARED

/** The ratio in each round that has both. */
const ratios = (rounds: readonly Round[], above: Name, below: Name, compared: Compared): number[] =>
  rounds.flatMap((round) => {
    const [a, b] = [round[above], round[below]]
    return a === undefined || b === undefined ? [] : [a[COMPARED[compared]] / b[COMPARED[compared]]]
  })
const fixed = (value: number, digits = 2): string => value.toFixed(digits)

const printRatios = (rounds: readonly Round[], above: Name, below: Name): void => {
  for (const compared of ['wall', 'CPU'] as const) {
    const found = ratios(rounds, above, below, compared)
    if (found.length === 0) continue
    const each = found.map((ratio) => fixed(ratio)).join(' ')
    console.log(`${above} / ${below}, ${compared}: median ${fixed(median(found))} (rounds: ${each})`)
  }
}

interface Load {
  readonly megabytes: number
  readonly rounds: readonly Round[]
}

/** @param chosen contenders */
const measureLoad = async (mb: number, chosen: readonly Contender[]): Promise<Load> => {
  const dataset = await cachedDataset(values.out, {
    ...{ megabytes: mb, quality: 5 },
    files: mb > MOST_IN_ONE_FILE ? 2 : 1,
  })
  const { files, decodedBytes, rows } = dataset
  const megabytes = decodedBytes / 1e6
  const allRows = rows.companies + rows.financials + rows.employees
  console.log(
    `\n${fixed(megabytes, 0)} MB decoded in ${files.length} files, ${rows.companies} companies, ${rows.financials} figures`,
  )

  const rounds: Round[] = []
  // The first round is each one's first start, which compiles its modules: it does not count.
  for (let round = 0; round <= Number(values.runs); round++) {
    const usages: Partial<Record<Name, NodeUsage>> = {}
    // Each round starts with another contender, so that none always runs on a warm or a tired machine.
    const shift = round % chosen.length
    for (const { name, args } of [...chosen.slice(shift), ...chosen.slice(0, shift)]) {
      const lake = join(values.out, `lake-${name}`)
      await rm(lake, { recursive: true, force: true })
      usages[name] = await measureNode(args(files, lake))
      await checkRows(lake, rows)
      await rm(lake, { recursive: true })
    }
    if (round > 0) rounds.push(usages)
  }

  for (const { name } of chosen) {
    const usages = rounds.flatMap((round) => round[name] ?? [])
    const walls = usages.map(({ wallSeconds }) => wallSeconds)
    const wall = median(walls)
    const cpu = median(usages.map(({ cpuSeconds }) => cpuSeconds))
    const peak = Math.max(...usages.map(({ peakMegabytes }) => peakMegabytes))
    console.log(
      `${name.padEnd(16)} wall ${fixed(wall)} s (${fixed(Math.min(...walls))}-${fixed(Math.max(...walls))})` +
        `  CPU ${fixed(cpu)} s  peak ${fixed(peak, 0)} MB  ${fixed(allRows / wall / 1e6)} M rows/s` +
        `  ${fixed(megabytes / wall, 0)} MB/s`,
    )
  }
  printRatios(rounds, 'ours', 'hand-tuned')
  printRatios(rounds, 'straightforward', 'ours')
  return { megabytes, rounds }
}

/** CPU of all threads, and of the main one: what the second takes is the least that any number of cores can take. */
const printMainThread = (loads: readonly Load[], chosen: readonly Contender[]): void => {
  const rows = loads.flatMap(({ megabytes, rounds }) =>
    chosen.map(({ name }) => {
      const usages = rounds.flatMap((round) => round[name] ?? [])
      const ofMegabyte = (seconds: (one: NodeUsage) => number): string =>
        fixed((median(usages.map(seconds)) / megabytes) * 1e3, 1)
      const main = ofMegabyte(({ mainSeconds }) => mainSeconds)
      return [name, fixed(megabytes, 0), ofMegabyte(({ cpuSeconds }) => cpuSeconds), main]
    }),
  )
  const numbers = ['MB', 'CPU ms a MB', 'main thread'].map((title) => ({ title, right: true }))
  console.log(`\n${textTable([{ title: 'contender' }, ...numbers], rows).join('\n')}`)
}

const main = async (): Promise<void> => {
  const only = values.only?.split(',')
  const chosen = contenders(resolve(values.main)).filter(
    ({ name }) => only === undefined || only.includes(name),
  )
  if (chosen.length === 0)
    throw new TypeError(`Cannot run: --only is "${values.only}", expected names of contenders`)
  const loads: Load[] = []
  for (const mb of values.mb.split(',')) loads.push(await measureLoad(Number(mb), chosen))
  printMainThread(loads, chosen)
  await mkdir(values.out, { recursive: true })
  await writeFile(join(values.out, 'result.json'), `${JSON.stringify(loads, null, 1)}\n`)
}

if (values.help) {
  console.log(HELP)
} else {
  await main()
}
