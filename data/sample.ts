/** The whole of a generated data set: companies and relations in batch files, and their control totals. */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CONSOLIDATIONS } from '../src/contract/dictionaries.ts'
import { COMPANY, CONTENT, type Content, RELATIONS_COMPANY } from '../src/contract/objects.ts'
import { madeAwkward } from './awkward-company.ts'
import { companyOf, type DraftCompany } from './company.ts'
import { type Control, countCompany, countFile, countRelations, emptyControl } from './control.ts'
import { financialsText } from './figures.ts'
import { identityOf } from './identity.ts'
import { seededRandom } from './random.ts'
import type { DraftRelation } from './relation.ts'
import { type DraftRelations, hasRelations, relationsOf } from './relations-company.ts'
import {
  boardMember,
  changedCompany,
  changedRelations,
  delivered,
  deliveredRelations,
  ownedBy,
  seated,
} from './second-delivery.ts'
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
  /**
   * A later delivery: those of the companies that changed since, and so many new ones.
   * @default the first delivery
   */
  readonly later?: { readonly newCompanies: number }
  readonly content: readonly Content[]
}

type LineMaker = (index: number, control: Control) => string | undefined

const firstCompany = ({ seed, small, awkward }: SampleOptions, index: number): DraftCompany => {
  const tame = companyOf(index, { seed, small })
  const random = seededRandom(seed, 'awkward', index)
  return random.chance(awkward) ? madeAwkward(tame, random) : tame
}

/** A company of a later delivery: new, or changed and as plain as the first one. */
const laterCompany = (options: SampleOptions, index: number): DraftCompany | undefined => {
  const first = firstCompany(options, index)
  const { seed, small, companies } = options
  if (index >= companies) return delivered(companyOf(index, { seed, small }), index)
  const changed = first.writing === 'plain' ? changedCompany(first, index) : undefined
  return changed && delivered(changed, index)
}

const companyLine =
  (options: SampleOptions): LineMaker =>
  (index, control) => {
    const company = options.later ? laterCompany(options, index) : firstCompany(options, index)
    if (company === undefined) return undefined
    countCompany(control, company)
    const figures = CONSOLIDATIONS.flatMap(({ name, field }): [string, string][] => {
      const categories = company.figures[name]
      return categories === undefined ? [] : [[field, financialsText(categories)]]
    })
    return lineOf(company.profile, COMPANY, figures, company.writing)
  }

const firstRelations = (options: SampleOptions, index: number): DraftRelations => {
  const drawn = relationsOf(index, options)
  return options.sound ? soundRelations(drawn) : drawn
}

/** The first person on a board, who takes a seat on that of the first new company too. */
const firstBoardMember = (options: SampleOptions): DraftRelation | undefined => {
  for (let index = 0; index < options.companies; index++) {
    const found = boardMember(firstRelations(options, index))
    if (found !== undefined) return found
  }
  return undefined
}

const laterRelations = (options: SampleOptions, index: number): DraftRelations | undefined => {
  const first = firstRelations(options, index)
  if (index < options.companies) return changedRelations(first, index)
  const place = index - options.companies
  // The new companies are one group: each of them owns the two that are next in line.
  if (place > 0)
    return ownedBy(identityOf(options.seed, options.companies + Math.floor((place - 1) / 2)), first)
  const person = firstBoardMember(options)
  return person === undefined ? first : seated(first, person)
}

const relationsLine =
  (options: SampleOptions): LineMaker =>
  (index, control) => {
    if (!hasRelations(index)) return undefined
    const drawn = options.later ? laterRelations(options, index) : firstRelations(options, index)
    if (drawn === undefined) return undefined
    const relations = options.later ? deliveredRelations(drawn, index) : drawn
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
  const indexes = options.companies + (options.later?.newCompanies ?? 0)
  const start = (file: number) => Math.floor((indexes * file) / options.files)
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
