/** Runs examples one after the other: the first argument is a folder for what they share, the others are their files. */

import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { convert, serve } from '../../src/index.ts'
import { makeBatchFiles } from '../../src/server/batch-files/make-batch-files.ts'
import { currentIndex } from '../../src/server/serving-index/build/current-index.ts'

const [folder = '', ...files] = process.argv.slice(2)

const company = (id: number, country: string) => ({
  BasicDetails: { InternalId: id, CompanyName: `Company ${id}`, CountryCode: country },
  MetaData: { ContentUpdatedAt: '2025-01-02T00:00:00', CurrentCurrencyCode: 'USD' },
  Financials: { ProfitAndLoss: { NetSales: { 2023: id, 2024: id + 0.5 } } },
})
const relations = (id: number) => ({
  ...{ InternalId: id, Name: `Company ${id}`, CountryCode: 'SE' },
  Children: [{ InternalId: id + 1, Name: 'Child' }],
})
const lines = (records: readonly object[]): string =>
  records.map((one) => `${JSON.stringify(one)}\n`).join('')

const writeBatches = async (below: string): Promise<string> => {
  const batches = join(below, 'batches')
  await mkdir(batches, { recursive: true })
  await writeFile(
    join(batches, 'companies.jsonl'),
    lines([company(1, 'SE'), company(2, 'SE'), company(3, 'NO')]),
  )
  await writeFile(join(batches, 'relations.jsonl'), lines([relations(1), relations(3)]))
  return batches
}

const lake = join(folder, 'served')
await convert({ from: await writeBatches(folder), lake })
const index = await currentIndex({ lake, memoryBytes: 256 * 1024 ** 2 })
await makeBatchFiles({ lake, index })
await index.close()
const server = await serve({ lake, port: 0, token: 'token-of-my-service' })
process.env.SERVICE_OF_EXAMPLES = server.url

const ran: { readonly printed: readonly string[]; readonly error?: string }[] = []
const log = console.log
for (const file of files) {
  const printed: string[] = []
  console.log = (...words: readonly unknown[]) => printed.push(words.join(' '))
  process.chdir(dirname(file))
  await writeBatches('.')
  try {
    await import(file)
    ran.push({ printed })
  } catch (error) {
    ran.push({ printed, error: String(error) })
  }
}
console.log = log
await server.close()
// What the examples have opened and not closed must not keep the process from its end.
console.log(JSON.stringify(ran))
