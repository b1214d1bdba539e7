/** The whole of a generated data set: companies and relations in batch files, and their control totals. */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CONSOLIDATIONS } from '../src/contract/dictionaries.ts'
import { COMPANY, CONTENT, type Content, RELATIONS_COMPANY } from '../src/contract/objects.ts'
import { madeAwkward } from './awkward-company.ts'
import { companyOf } from './company.ts'
import { type Control, countCompany, countFile, countRelations, emptyControl } from './control.ts'
import { financialsText } from './figures.ts'
import { seededRandom } from './random.ts'
import { hasRelations, relationsOf } from './relations-company.ts'
import { soundRelations } from './sound-relations.ts'
import { writeBatch } from './write-batches.ts'
import { lineOf } from './write-line.ts'

export interface SampleOptions {
  readonly companies: number
  readonly seed: number
  /** Batch files of each content; lines are spread evenly. */
  readonly files: number
  /** Lean lines of 1-3 KB instead of 10-12 KB. */
  readonly small: boolean
  /** Share of awkward lines, 0 to 1. */
  readonly awkward: number
  /** Whether ownership has no circles and no more than 100 % of a company. @default false */
  readonly sound?: boolean
  readonly content: readonly Content[]
}

type LineMaker = (index: number, control: Control) => string | undefined

const companyLine =
  ({ seed, small, awkward }: SampleOptions): LineMaker =>
  (index, control) => {
    const tame = companyOf(index, { seed, small })
    const random = seededRandom(seed, 'awkward', index)
    const company = random.chance(awkward) ? madeAwkward(tame, random) : tame
    countCompany(control, company)
    const figures = CONSOLIDATIONS.flatMap(({ name, field }): [string, string][] => {
      const categories = company.figures[name]
      return categories === undefined ? [] : [[field, financialsText(categories)]]
    })
    return lineOf(company.profile, COMPANY, figures, company.writing)
  }

const relationsLine =
  (options: SampleOptions): LineMaker =>
  (index, control) => {
    if (!hasRelations(index)) return undefined
    const drawn = relationsOf(index, options)
    const relations = options.sound ? soundRelations(drawn) : drawn
    countRelations(control, relations)
    return lineOf(relations.record, RELATIONS_COMPANY, [], relations.writing)
  }

/** Lines of a content from company number `from` up to `to`, which is not included. */
export function* linesOf(
  content: Content,
  options: SampleOptions,
  control: Control,
  from = 0,
  to = options.companies,
): Generator<string> {
  const make = content === 'companies' ? companyLine(options) : relationsLine(options)
  for (let index = from; index < to; index++) {
    const line = make(index, control)
    if (line !== undefined) yield line
  }
}

/**
 * Writes the batch files and `control.json` into a folder, which is made when it does not exist.
 *
 * @param quality of Brotli, 0 to 11
 */
export const writeSample = async (
  directory: string,
  options: SampleOptions,
  quality: number,
): Promise<Control> => {
  await mkdir(directory, { recursive: true })
  const control = emptyControl()
  const start = (file: number) => Math.floor((options.companies * file) / options.files)
  for (const content of options.content) {
    for (let file = 0; file < options.files; file++) {
      const name = `${content}-${String(file + 1).padStart(4, '0')}.jsonl.br`
      const lines = linesOf(content, options, control, start(file), start(file + 1))
      const written = await writeBatch(join(directory, name), lines, quality)
      countFile(control, { name, content, ...written })
    }
  }
  const report = { generator: { ...options, quality }, ...control }
  await writeFile(join(directory, 'control.json'), `${JSON.stringify(report, null, 1)}\n`)
  return control
}

export const ALL_CONTENT = Object.keys(CONTENT) as readonly Content[]
