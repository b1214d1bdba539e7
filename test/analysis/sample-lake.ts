/** The lake of the questions in docs/analysis.md: the sample, and its second delivery. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import type { Company, RelationsCompany } from '../../src/contract/objects.ts'
import { convert } from '../../src/jobs/convert.ts'

const DATA = join(import.meta.dirname, '../../data')
const DELIVERIES = ['sample', 'sample-second'] as const

const linesOf = async <T>(delivery: string, content: string): Promise<T[]> => {
  const folder = join(DATA, delivery)
  const names = (await readdir(folder)).filter((name) => name.startsWith(content)).sort()
  const strings = await Promise.all(
    names.map(async (name) => brotliDecompressSync(await readFile(join(folder, name)))),
  )
  return strings.flatMap((bytes) =>
    bytes
      .toString('utf8')
      .trimEnd()
      .split('\n')
      .map((line): T => JSON.parse(line)),
  )
}

interface Delivery {
  readonly companies: readonly Company[]
  readonly relations: readonly RelationsCompany[]
}

/** The records of the sample, and those of its second delivery. */
export interface SampleRecords extends Delivery {
  /** Current ones: the second delivery's in place of the first one's. */
  readonly current: readonly Company[]
  readonly currentRelations: readonly RelationsCompany[]
  readonly second: Delivery
}

const readDelivery = async (name: (typeof DELIVERIES)[number]): Promise<Delivery> => ({
  companies: await linesOf<Company>(name, 'companies'),
  relations: await linesOf<RelationsCompany>(name, 'relations'),
})

const replaced = <T>(first: readonly T[], second: readonly T[], idOf: (one: T) => unknown): readonly T[] => {
  const ids = new Set(second.map(idOf))
  return [...first.filter((one) => !ids.has(idOf(one))), ...second]
}

export const sampleRecords = async (): Promise<SampleRecords> => {
  const [first, second] = [await readDelivery('sample'), await readDelivery('sample-second')]
  return {
    ...first,
    second,
    current: replaced(first.companies, second.companies, ({ BasicDetails }) => BasicDetails?.InternalId),
    currentRelations: replaced(first.relations, second.relations, ({ InternalId }) => InternalId),
  }
}

/** Loads both. */
export const loadSampleLake = async (lake: string): Promise<SampleRecords> => {
  for (const delivery of DELIVERIES) {
    const { noViews } = await convert({ from: join(DATA, delivery), lake })
    // The commit stands without; whoever asks lake.duckdb would be answered from the one before.
    if (noViews !== undefined) throw new Error(`lake.duckdb was not written: ${noViews}`)
  }
  return sampleRecords()
}
