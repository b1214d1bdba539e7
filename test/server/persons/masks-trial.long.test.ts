/** Whatever leaves by any door has no text of a protected person, and every text of an open one. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { convert } from '../../../src/jobs/convert.ts'
import type { Caller } from '../../../src/server/access/caller.ts'
import { openBatchStore } from '../../../src/server/batch-files/batch-store.ts'
import { makeBatchFiles } from '../../../src/server/batch-files/make-batch-files.ts'
import { searchCompanies } from '../../../src/server/search/search-companies.ts'
import { searchRelations } from '../../../src/server/search/search-relations.ts'
import { currentIndex } from '../../../src/server/serving-index/build/current-index.ts'
import type { ServingIndex } from '../../../src/server/serving-index/session-pool.ts'
import { fromRecords } from '../../../src/source/from-records.ts'
import { seededRandom } from '../../manifest/damage.ts'
import { SEED } from '../../support/seed.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { openBrowsing } from '../explorer/explorer-lake.ts'
import { allAreasBut, callerOf, EVERYTHING, pageOf, partsOf } from '../search/search-parts.ts'
import { type MadePerson, type MadeRecords, makeRecords } from './made-records.ts'

const signal = new AbortController().signal
const CALLERS: Readonly<Record<string, Caller>> = {
  everything: EVERYTHING,
  'every area': callerOf({ SE: allAreasBut() }),
  'no persons': callerOf({ SE: allAreasBut('Hidden Person Access') }),
  'one area': callerOf({ SE: ['Owner'] }),
  'no area': callerOf({ SE: [] }),
}
const hasAccess = (name: string): boolean => name.startsWith('every')

const secretsOf = (persons: readonly MadePerson[], hasNames: boolean): readonly string[] =>
  persons
    .filter(({ isProtected }) => isProtected)
    .flatMap(({ hidden, named }) => (hasNames ? hidden : [...hidden, ...named]))
const stringsOf = (persons: Iterable<MadePerson>): readonly string[] =>
  [...persons].flatMap(({ hidden, named }) => [...hidden, ...named])
const found = (output: string, strings: readonly string[]) => strings.filter((text) => output.includes(text))
const missing = (output: string, strings: readonly string[]) =>
  strings.filter((text) => !output.includes(text))

const loaded = async ({ companies, relations }: MadeRecords): Promise<string> => {
  const lake = join(await temporaryFolder(), 'lake')
  await convert({ from: [fromRecords('companies', companies), fromRecords('relations', relations)], lake })
  return lake
}

/** What a caller gets by each door. */
const doorsOf = async (lake: string, index: ServingIndex, caller: Caller) => {
  const parts = partsOf(index, { embedder: undefined })
  const searched = async (search: typeof searchCompanies, more: object): Promise<string> => {
    const body = { SearchParameters: { CountryCode: ['SE'] }, PageSize: 500, ...more }
    return pageOf(await search(parts, caller, body, signal)).text
  }
  const [folder = ''] = await readdir(join(lake, '_batches'))
  const { BatchFiles } = await openBatchStore(lake, () => index.persons.digest).listing(caller)
  const files = await Promise.all(
    BatchFiles.map(({ FileName }) => readFile(join(lake, '_batches', folder, FileName))),
  )
  return {
    companies: await searched(searchCompanies, { Cursor: '*' }),
    minified: await searched(searchCompanies, { MinifiedSearch: true }),
    relations: await searched(searchRelations, { Cursor: '*' }),
    files: files.map((bytes) => brotliDecompressSync(bytes).toString()).join(''),
    // What is masked is not found either.
    numbers: async (number: unknown) => searched(searchCompanies, { SearchParameters: { OrgNo: [number] } }),
    words: async (words: string) =>
      searched(searchCompanies, { SearchParameters: { DynamicSearch: [words] } }),
  }
}

/** `FIRMLAKE_ROUNDS=20` looks longer. */
const SEEDS = Array.from({ length: Number(process.env.FIRMLAKE_ROUNDS ?? 1) }, (_, at) => SEED + at)

test.each(SEEDS)('no door gives a protected person away, or hides an open one (seed %i)', async (seed) => {
  const made = makeRecords(seededRandom(seed))
  const { persons, inContract, anywhere } = made
  const lake = await loaded(made)
  const index = await currentIndex({ lake, memoryBytes: 256 * 1024 ** 2 })
  try {
    await makeBatchFiles({ lake, index })
    for (const [name, caller] of Object.entries(CALLERS)) {
      const { numbers, words, ...doors } = await doorsOf(lake, index, caller)
      for (const [door, output] of Object.entries(doors))
        expect([name, door, found(output, secretsOf(persons, hasAccess(name)))]).toEqual([name, door, []])
      // Open ones in histories and beyond the contract are for callers with areas.
      const open = stringsOf(hasAccess(name) ? anywhere : inContract)
      expect([name, missing(doors.relations, open)]).toEqual([name, []])
      if (hasAccess(name)) expect([name, missing(doors.files, open)]).toEqual([name, []])
      const owners = persons.filter(({ isProtected }) => !isProtected)
      const own = owners.flatMap(({ name: words, street }) => [words, street])
      expect([name, missing(doors.companies, own), missing(doors.files, own)]).toEqual([name, [], []])
      if (hasAccess(name)) continue
      for (const one of persons) {
        const answers = [await numbers(one.number), await words(one.name)]
        for (const answer of answers)
          expect([name, one.name, answer === '{"Companies":[]}']).toEqual([name, one.name, one.isProtected])
      }
    }
  } finally {
    await index.close()
  }
})

test(`the explorer names no protected person, and every open one (seed ${SEED})`, async () => {
  const made = makeRecords(seededRandom(SEED))
  const { persons } = made
  const lake = await loaded(made)
  const explorer = await openBrowsing(lake)
  const asked = async (question: string, parameters: object): Promise<string> => {
    const reply = await explorer.ask(question, parameters, EVERYTHING, signal)
    expect(reply.kind).toBe('answer')
    return JSON.stringify(reply)
  }
  try {
    const answers = [await asked('browse', {})]
    for (const { name } of persons) answers.push(await asked('search', { text: name }))
    for (const id of made.own) answers.push(await asked('company', { id }))
    for (const question of ['company', 'ownership', 'changes'])
      answers.push(await asked(question, { id: 11 }))
    const shown = answers.join('')
    expect(found(shown, secretsOf(persons, false))).toEqual([])
    const open = persons.filter(({ isProtected }) => !isProtected)
    expect(
      missing(
        shown,
        open.flatMap(({ name, street }) => [name, street]),
      ),
    ).toEqual([])
  } finally {
    await explorer.close()
  }
})
