/** Batch files of a wanted size for the benchmarks, made once and kept in the temporary folder. */

import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Control } from '../data/control.ts'
import { writeSample } from '../data/sample.ts'

/** Decoded bytes of a company line on average (seed 1, plain size). */
const BYTES_PER_COMPANY = 10_890

export interface Dataset {
  readonly files: readonly string[]
  readonly decodedBytes: number
  /** What a correct conversion gives. */
  readonly rows: { readonly companies: number; readonly financials: number; readonly employees: number }
}

export interface DatasetOptions {
  /** Size of the lines before compression, in MB (10^6 bytes). */
  readonly megabytes: number
  readonly files: number
  /** Of Brotli; 1 writes fastest. */
  readonly quality: number
}

const readControl = async (directory: string): Promise<Control | undefined> => {
  try {
    return JSON.parse(await readFile(join(directory, 'control.json'), 'utf8'))
  } catch {
    return undefined
  }
}

export const cachedDataset = async (
  home: string,
  { megabytes, files, quality }: DatasetOptions,
): Promise<Dataset> => {
  const companies = Math.round((megabytes * 1e6) / BYTES_PER_COMPANY)
  const options = { companies, seed: 1, files, small: false, awkward: 0.05, content: ['companies'] } as const
  const directory = join(home, `data-${megabytes}mb-${files}-q${quality}`)
  let control = await readControl(directory)
  if (control === undefined) {
    await rm(directory, { recursive: true, force: true })
    control = await writeSample(directory, options, quality)
  }
  const { decodedBytes, records, values, employees } = control.companies
  return {
    files: control.files.map(({ name }) => join(directory, name)),
    decodedBytes,
    rows: {
      companies: records,
      financials: values,
      employees: employees.Consolidated + employees.Unconsolidated,
    },
  }
}
