/**
 * Makes a lake with everything that a lake may have: `node test/format/make-lake.ts DIR`. `test/fixtures/lake` was made so by the
 * first release and is never made again: later releases have to read what stands there.
 */

import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { serve } from '../../src/index.ts'
import { type FakeCompany, openFakeService } from '../service/fake-service.ts'
import { answersOf } from './lake-answers.ts'

const PROJECT = resolve(import.meta.dirname, '../..')
const run = promisify(execFile)

const firmlake = async (args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<void> => {
  const main = join(PROJECT, 'src/cli/main.ts')
  const { stdout, stderr } = await run(process.execPath, [main, ...args], { env: { ...process.env, ...env } })
  console.log(`\n${args.join(' ')}\n${stderr}${stdout}`)
}

/** Companies of a service; one in four has no date, so that windows by date leave a gap. */
const listed = (ids: readonly number[]): readonly FakeCompany[] =>
  ids.map((id) => ({
    ...{ id, name: `Listed ${id}`, country: 'XK', status: 10, lineItem: 'NetSales' },
    dates: id % 4 === 0 ? {} : { ContentUpdatedAt: `2026-01-0${1 + (id % 9)}` },
  }))

const line = (id: number, sales: number, more: object = {}): string =>
  JSON.stringify({
    BasicDetails: { InternalId: id, CompanyName: `Aktiebolaget ${id} "Å/ö"`, CountryCode: 'SE', ...more },
    MetaData: { ContentUpdatedAt: '2026-02-01T00:00:00' },
    Financials: { ProfitAndLoss: { NetSales: { 2024: sales }, Oddity: { 2024: 1 } } },
  })

const writeFiles = async (folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true })
  // Twelve small files share a partition.
  for (let id = 900_001; id <= 900_012; id += 1)
    await writeFile(join(folder, `one-${id}.jsonl`), `${line(id, id)}\n`)
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`Unknown${at}`, at]))
  const lines = [line(900_020, 1, { Novelty: 'yes' }), line(900_021, 2, many), '{"BasicDetails": {']
  await writeFile(join(folder, 'odd.jsonl'), `${lines.join('\n')}\n${line(900_022, 3).replace('SE', 'NO')}\n`)
  await writeFile(join(folder, 'rates.csv'), 'currency,year,units_per_usd\nSEK,2024,10.5\n')
}

const make = async (lake: string): Promise<void> => {
  const work = await mkdtemp(join(tmpdir(), 'firmlake-make-'))
  const [files, other] = [join(work, 'files'), join(work, 'other')]
  const onLake = ['--lake', lake]
  await writeFiles(files)
  try {
    const take = [
      '--compute',
      "companies.is_swedish=country_code = 'SE'",
      '--mask',
      'companies.phone=***',
      '--keep-bad-lines',
    ]
    const first = [
      '--max-quarantined',
      '5',
      '--max-unknown-per-record',
      '20',
      '--where',
      "country_code <> 'NO'",
    ]
    await firmlake(['convert', join(files, '*.jsonl'), ...onLake, ...take, ...first])
    await firmlake(['convert', join(PROJECT, 'data/sample-second'), ...onLake])
    // The line that had too many unknown names.
    await firmlake(['quarantine', 'replay', ...onLake, '--max-unknown-per-record', '100'])
    const fake = await openFakeService({ companies: listed([1, 2, 3, 4, 5, 6, 7, 8]) })
    const service = { FIRMLAKE_URL: fake.url, FIRMLAKE_TOKEN: fake.token }
    const pull = ['pull', 'companies', '--search', '{"CountryCode":["XK"]}', '--page-size', '2', ...onLake]
    await firmlake([...pull, '--by', 'ContentUpdatedAt', '--cap', '3'], service)
    fake.hold(listed([1, 2, 3, 4, 5, 6, 7]))
    await firmlake([...pull, '--max-gone', '50%'], service)
    await firmlake(['convert', join(PROJECT, 'data/sample'), '--lake', other])
    await firmlake(['batches', 'make', '--lake', other])
    const served = await serve({ lake: other, port: 0, token: 'a-token-of-the-fixture' })
    const batches = { FIRMLAKE_URL: served.url, FIRMLAKE_TOKEN: 'a-token-of-the-fixture' }
    await firmlake(['batches', 'pull', '--content', 'relations', '--country', 'FR', ...onLake], batches)
    await firmlake(['rates', 'load', join(files, 'rates.csv'), ...onLake])
    await firmlake(['compact', ...onLake])
    await firmlake(['batches', 'pull', '--content', 'companies', '--country', 'FR', ...onLake], batches)
    await served.close()
    await writeFile(join(files, 'again.jsonl'), `${line(900_001, 5)}\n${line(900_002, 900_002)}\n`)
    await firmlake(['convert', join(files, 'again.jsonl'), ...onLake])
    await firmlake(['forget', '--company', '900003', ...onLake, '--yes'])
    fake.hold(listed([1, 2, 3, 4, 5, 6]))
    await firmlake([...pull, '--max-gone', '50%'], service)
    await fake.close()
    await writeFile(join(files, 'late.jsonl'), `${line(900_001, 6)}\n${line(900_003, 1)}\n`)
    await firmlake(['convert', join(files, 'late.jsonl'), ...onLake])
    await firmlake(['gc', '--keep', '2', ...onLake])
    await firmlake(['publish', 'delta', ...onLake])
  } finally {
    await rm(work, { recursive: true })
  }
}

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new TypeError('expected the folder of the lake')
await make(resolve(folder))
await writeFile(`${resolve(folder)}.json`, `${JSON.stringify(await answersOf(folder), null, 1)}\n`)
