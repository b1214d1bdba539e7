/**
 * Command: `npm run bench:peers`. The same conversion by ours and by each peer, as whole processes: ours and the peer in
 * turn, the first start of each uncounted, the tables of every run compared with what the lines hold.
 */

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { OURS } from './contenders.ts'
import { cachedDataset } from './dataset.ts'
import { measureProcess, median, type Usage } from './measure.ts'
import { problemsOf } from './peers/check-tables.ts'
import { expectedOf } from './peers/expected.ts'
import { PEERS, type Peer } from './peers/peers.ts'
import { SHAPE } from './peers/shape.ts'

const HELP = `Converts two Brotli files of company lines to Parquet, by ours and by each peer.

  npm run bench:peers -- [options]

  --mb A,B     decoded sizes in MB (24,236)
  --runs N     pairs of ours and a peer that count (3)
  --only A,B   peers: ${PEERS.map(({ name }) => name).join(', ')} (all)
  --out DIR    folder for the data, the tables and peers.json (in the temporary folder)
`
const { values } = parseArgs({
  options: {
    mb: { type: 'string', default: '24,236' },
    runs: { type: 'string', default: '3' },
    only: { type: 'string' },
    out: { type: 'string', default: join(tmpdir(), 'firmlake-bench') },
    help: { type: 'boolean', default: false },
  },
})

/** One run of ours and one of the peer, beside each other in time. */
interface Pair {
  readonly ours: Usage
  readonly peer: Usage
}

interface Outcome {
  readonly peer: string
  readonly pairs: readonly Pair[]
  /** What is wrong with its tables. */
  readonly problems: readonly string[]
}

type Run = (out: string) => Promise<{ readonly usage: Usage; readonly problems: readonly string[] }>

const pairsOf = async (ours: Run, peer: Run, runs: number): Promise<Omit<Outcome, 'peer'>> => {
  const pairs: Pair[] = []
  const problems = new Set<string>()
  // The first pair is each one's first start: caches of modules, files of the system.
  for (let at = 0; at <= runs; at += 1) {
    const found = new Map<Run, Usage>()
    for (const run of at % 2 === 0 ? [ours, peer] : [peer, ours]) {
      const one = await run(join(values.out, 'peer'))
      found.set(run, one.usage)
      for (const problem of one.problems) problems.add(run === ours ? `ours: ${problem}` : problem)
    }
    const [own, other] = [found.get(ours), found.get(peer)]
    if (at > 0 && own !== undefined && other !== undefined) pairs.push({ ours: own, peer: other })
  }
  return { pairs, problems: [...problems] }
}

const fixed = (value: number, digits = 2): string => value.toFixed(digits)
const ratioText = (pairs: readonly Pair[], of: (usage: Usage) => number): string => {
  const ratios = pairs.map(({ ours, peer }) => of(peer) / of(ours)).sort((a, b) => a - b)
  return `${fixed(median(ratios)).padStart(5)} (${fixed(ratios[0] ?? Number.NaN)}-${fixed(ratios.at(-1) ?? Number.NaN)})`
}

const print = ({ peer, pairs, problems }: Outcome): void => {
  const middle = (usages: readonly Usage[], of: (usage: Usage) => number): string =>
    fixed(median(usages.map(of))).padStart(6)
  const [own, other] = [pairs.map(({ ours }) => ours), pairs.map((pair) => pair.peer)]
  const cpu = ({ cpuSeconds }: Usage): number => cpuSeconds
  const wall = ({ wallSeconds }: Usage): number => wallSeconds
  const peak = Math.max(...other.map(({ peakMegabytes }) => peakMegabytes))
  console.log(
    `${peer.padEnd(13)} CPU ${middle(other, cpu)} s, ours ${middle(own, cpu)} s, ratio ${ratioText(pairs, cpu)}` +
      `   wall ${middle(other, wall)} s, ours ${middle(own, wall)} s, ratio ${ratioText(pairs, wall)}` +
      `   peak ${fixed(peak, 0)} MB`,
  )
  for (const problem of problems.slice(0, 5)) console.log(`  WRONG: ${problem}`)
  if (problems.length > 5) console.log(`  WRONG: ${problems.length - 5} more`)
}

const compare = async (megabytes: number, chosen: readonly Peer[]): Promise<readonly Outcome[]> => {
  const { files, decodedBytes, rows } = await cachedDataset(values.out, { megabytes, files: 2, quality: 5 })
  const expected = await expectedOf(files)
  console.log(
    `\n${fixed(decodedBytes / 1e6, 0)} MB decoded, ${rows.companies} companies, ${rows.financials} figures; ` +
      'ratios are of the peer to ours, median (least-greatest)',
  )
  const shape = join(values.out, 'shape.json')
  await writeFile(shape, JSON.stringify(SHAPE))
  const runOf =
    (commandOf: (out: string) => readonly string[], columns: boolean): Run =>
    async (out) => {
      await rm(out, { recursive: true, force: true })
      const [command = '', ...args] = commandOf(out)
      const usage = await measureProcess(command, args)
      const problems = await problemsOf(out, expected, columns)
      await rm(out, { recursive: true })
      return { usage, problems }
    }
  const ours = runOf((out) => [process.execPath, ...OURS.args(files, out)], false)
  const outcomes: Outcome[] = []
  for (const { name, command } of chosen) {
    const peer = runOf((out) => command(shape, out, files), true)
    const outcome = { peer: name, ...(await pairsOf(ours, peer, Number(values.runs))) }
    print(outcome)
    outcomes.push(outcome)
  }
  return outcomes
}

const main = async (): Promise<void> => {
  const only = values.only?.split(',')
  const chosen = PEERS.filter(({ name }) => only === undefined || only.includes(name))
  if (chosen.length < (only?.length ?? 1))
    throw new TypeError(`Cannot run: --only is "${values.only}", expected names of peers`)
  await mkdir(values.out, { recursive: true })
  const sizes: { megabytes: number; outcomes: readonly Outcome[] }[] = []
  for (const megabytes of values.mb.split(',').map(Number))
    sizes.push({ megabytes, outcomes: await compare(megabytes, chosen) })
  await writeFile(join(values.out, 'peers.json'), `${JSON.stringify(sizes, null, 1)}\n`)
  if (sizes.some(({ outcomes }) => outcomes.some(({ problems }) => problems.length > 0))) process.exitCode = 1
}

if (values.help) {
  console.log(HELP)
} else {
  await main()
}
