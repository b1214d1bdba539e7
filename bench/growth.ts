/**
 * Command: `node bench/growth.ts [--companies 3000,30000,300000] [--only check,report] [--main DIR/src/cli/main.ts]
 * [--memory 1GiB] [--out DIR]`. Each command as a whole process at three sizes of a lake: CPU, peak memory, bytes written,
 * and the exponent with which CPU grows from one size to the next (1: linear). With `--partitions 1000` also what a lake
 * of so many partitions takes, and the same lake compacted.
 */

import { existsSync } from 'node:fs'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { brotliDecompressSync } from 'node:zlib'
import { ALL_CONTENT, writeSample } from '../data/sample.ts'
import { convert } from '../src/jobs/convert.ts'
import { measureProcess, type Usage } from './measure.ts'
import { startServer } from './server-process.ts'

const { values } = parseArgs({
  options: {
    companies: { type: 'string', default: '3000,30000,300000' },
    partitions: { type: 'string', default: '' },
    only: { type: 'string', default: '' },
    main: { type: 'string', default: join(import.meta.dirname, '../src/cli/main.ts') },
    memory: { type: 'string', default: '1GiB' },
    out: { type: 'string', default: join(tmpdir(), 'firmlake-bench') },
  },
})
const ONLY = values.only.split(',').filter(Boolean)

/** One lake and what is made of it, in a folder of its own. */
interface Place {
  readonly home: string
  readonly batches: string
  readonly lake: string
  /** Batch file of one company in a thousand, with other net sales. */
  readonly night: string
  /** The id of a company. */
  readonly id: number
}

interface Step {
  readonly name: string
  /** Of `firmlake`; answers go nowhere. */
  readonly args: (place: Place) => readonly string[]
  /** Whether it takes `--memory`. */
  readonly limited?: boolean
}

const asked = (name: string, sql: (place: Place) => string): Step => ({
  name: `query: ${name}`,
  args: (place) => ['query', '--lake', place.lake, sql(place)],
  limited: true,
})

const onLake =
  (...args: readonly string[]) =>
  ({ lake }: Place): readonly string[] => [...args, '--lake', lake]

const to =
  (address: string) =>
  ({ lake, home }: Place): readonly string[] => ['export', '--lake', lake, '--to', address.replace('@', home)]

/** Every figure of an answer, so that nothing of it is left out of the work. */
const whole = (relation: string) => () => `SELECT count(*), bit_xor(hash(one)) FROM ${relation} one`

const READ: readonly Step[] = [
  { name: 'status', args: onLake('status') },
  { name: 'verify', args: onLake('verify') },
  asked('count(*)', () => 'SELECT count(*) FROM financials'),
  asked('one id', ({ id }) => `SELECT * FROM financials WHERE internal_id = ${id}`),
  asked('sum(value) by year', () => 'SELECT fiscal_year, sum(value) FROM financials GROUP BY 1'),
  asked('latest_figures whole', whole('latest_figures')),
  asked('financials_wide whole', whole('financials_wide')),
  { name: 'records companies', args: onLake('records', '--content', 'companies'), limited: true },
  { name: 'records relations', args: onLake('records', '--content', 'relations'), limited: true },
  { name: 'records of one id', args: (one) => onLake('records', '--id', `${one.id}`)(one), limited: true },
  { name: 'check', args: onLake('check'), limited: true },
  {
    name: 'report',
    args: (one) => [...onLake('report')(one), '--to', join(one.home, 'report.html')],
    limited: true,
  },
]

const STEPS: readonly Step[] = [
  ...READ,
  { name: 'export csv', args: to('csv:@/csv'), limited: true },
  { name: 'export parquet', args: to('parquet:@/parquet'), limited: true },
  { name: 'export duckdb', args: to('@/x.duckdb'), limited: true },
  { name: 'batches make', args: onLake('batches', 'make'), limited: true },
  { name: 'copy', args: ({ lake, home }) => ['copy', lake, join(home, 'copy')] },
  { name: 'publish iceberg', args: onLake('publish', 'iceberg'), limited: true },
  { name: 'publish delta', args: onLake('publish', 'delta'), limited: true },
  { name: 'night: convert', args: (one) => [...onLake('convert')(one), one.night], limited: true },
  { name: 'night: publish iceberg', args: onLake('publish', 'iceberg'), limited: true },
  { name: 'night: publish delta', args: onLake('publish', 'delta'), limited: true },
  { name: 'night: export duckdb', args: to('@/x.duckdb'), limited: true },
  { name: 'again: export duckdb', args: to('@/x.duckdb'), limited: true },
  { name: 'night: diff', args: onLake('diff', '--limit', '10'), limited: true },
  { name: 'night: check', args: onLake('check'), limited: true },
  { name: 'compact', args: onLake('compact'), limited: true },
  { name: 'gc', args: onLake('gc', '--keep', '1') },
  { name: 'forget', args: (one) => [...onLake('forget')(one), '--company', `${one.id}`], limited: true },
]

/** Nobody reads what it prints. Codes 5 and 6 are answers too. */
const ANSWERED = 'node "$@" > /dev/null; code=$?; [ $code = 5 ] || [ $code = 6 ] || exit $code'

const measure = ({ args, limited }: Step, place: Place): Promise<Usage> =>
  measureProcess('/bin/sh', [
    ...['-c', ANSWERED.replace('node', process.execPath), 'sh', values.main],
    ...[...args(place), ...(limited ? ['--memory', values.memory] : [])],
  ])

type Line = readonly [name: string, usage: Pick<Usage, 'cpuSeconds' | 'peakMegabytes' | 'writtenMegabytes'>]

const columns = ([name, { cpuSeconds, peakMegabytes, writtenMegabytes }]: Line, beside = ''): string =>
  [
    name.padEnd(30),
    `${cpuSeconds.toFixed(2).padStart(9)} CPU s`,
    `${peakMegabytes.toFixed(0).padStart(6)} MB peak`,
    `${writtenMegabytes.toFixed(1).padStart(9)} MB written`,
    beside,
  ].join(' ')

const isWanted = (name: string): boolean => ONLY.length === 0 || ONLY.some((one) => name.includes(one))

/** Runs the steps one after the other; a step that fails is said and does not end the others. */
const runSteps = async (
  steps: readonly Step[],
  place: Place,
  onLine: (line: Line) => void,
): Promise<void> => {
  for (const step of steps.filter(({ name }) => isWanted(name))) {
    try {
      onLine([step.name, await measure(step, place)])
    } catch (error) {
      console.log(`${step.name.padEnd(30)} failed: ${String(error).split('\n').at(-2)}`)
    }
  }
}

/** Every thousandth line of the companies, with net sales of ten times as much. */
const writeNight = async (batches: string, night: string, companies: number): Promise<number> => {
  const file = join(batches, 'companies-0001.jsonl.br')
  const lines = brotliDecompressSync(await readFile(file))
    .toString('utf8')
    .split('\n')
    .slice(0, Math.max(1, Math.round(companies / 1000)))
  await writeFile(night, `${lines.join('\n').replaceAll(/("NetSales":\{"\d{4}":-?\d+)/g, '$10')}\n`)
  return Number(/"InternalId":(\d+)/.exec(lines[0] ?? '')?.[1])
}

const makeBatches = async (home: string, companies: number, files: number): Promise<Place> => {
  const place = {
    home,
    batches: join(home, 'batches'),
    lake: join(home, 'lake'),
    night: join(home, 'night.jsonl'),
  }
  await rm(home, { recursive: true, force: true })
  await mkdir(home, { recursive: true })
  const options = { companies, seed: 11, files, small: false, awkward: 0, sound: true }
  await writeSample(place.batches, { ...options, content: ALL_CONTENT }, 1)
  return { ...place, id: await writeNight(place.batches, place.night, companies) }
}

/** A hundred thousand companies are some 1.1 GB of lines: a file for each ten thousand, and at least ten. */
const filesFor = (companies: number): number => Math.max(10, Math.ceil(companies / 10_000))

const before = new Map<string, number>()
let sizeBefore = 0
for (const companies of values.companies.split(',').filter(Boolean).map(Number)) {
  const place = await makeBatches(join(values.out, `growth-${companies}`), companies, filesFor(companies))
  console.log(`\n${companies} companies, --memory ${values.memory}`)
  const tell = (line: Line): void => {
    const [name, { cpuSeconds }] = line
    const earlier = before.get(name)
    before.set(name, cpuSeconds)
    const exponent =
      earlier === undefined
        ? ''
        : `exponent ${(Math.log(cpuSeconds / earlier) / Math.log(companies / sizeBefore)).toFixed(2)}`
    console.log(columns(line, exponent))
  }
  const load: Step = {
    name: 'convert',
    args: (one) => [...onLake('convert')(one), one.batches],
    limited: true,
  }
  tell([load.name, await measure(load, place)])
  await runSteps(STEPS, place, tell)
  if (isWanted('serving index')) {
    const server = await startServer(place.lake)
    tell(['serving index', { ...(await server.usage()), writtenMegabytes: 0 }])
    await server.stop()
  }
  sizeBefore = companies
  await rm(place.home, { recursive: true })
}

if (values.partitions !== '') {
  const partitions = Number(values.partitions)
  const place = await makeBatches(
    join(values.out, `growth-partitions-${partitions}`),
    partitions * 3,
    partitions,
  )
  // A run for every ten files: as many snapshots as nights have.
  await convert({ from: [place.batches], lake: place.lake })
  const compacted = { ...place, lake: join(place.home, 'compacted') }
  await cp(place.lake, compacted.lake, { recursive: true })
  await measure({ name: 'compact', args: onLake('compact') }, compacted)
  for (const [said, one] of [
    [`${partitions} partitions`, place],
    ['the same, compacted', compacted],
  ] as const) {
    console.log(`\n${said}`)
    if (!existsSync(one.lake)) throw new Error(`Cannot measure "${one.lake}": it is missing`)
    await runSteps(READ, one, (line) => console.log(columns(line)))
  }
  await rm(place.home, { recursive: true })
}
