/** The page of formats has every field that lakes have, and no field is demanded otherwise than it says. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { compact } from '../../src/jobs/compact.ts'
import { forget } from '../../src/jobs/forget.ts'
import { PULL_ENTRY, RUN_FILE } from '../../src/manifest/form/entry-form.ts'
import { FORMAT, isRoot, lineToPartition, PART_REF, VERSION_FILE } from '../../src/manifest/form/root-form.ts'
import { fits } from '../../src/support/json-form.ts'
import { loadSample } from '../publish/sample-lake.ts'
import { queryLake } from '../run/batch-bench.ts'
import { readPage } from '../support/page.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const PAGE = readPage('docs/reference/format.md')

interface Field {
  readonly name: string
  readonly isOptional: boolean
}

/** The fields of a section's tables. */
const fieldsOf = (title: string): readonly Field[] => {
  const [, text = ''] = new RegExp(`\n## ${title}\n([\\s\\S]*?)(?:\n## |$)`).exec(PAGE) ?? []
  return [...text.matchAll(/^\| (`[^|]*`) \| ([^|]*)\|/gm)].flatMap(([, names = '', type = '']) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => ({ name, isOptional: type.includes('optional') })),
  )
}

type Document = Record<string, unknown>
const documents = async (lake: string, folder: string): Promise<readonly Document[]> => {
  const names = (await readdir(join(lake, folder))).filter((name) => /^\d.*\.jsonl?$/.test(name))
  const strings = await Promise.all(names.map((name) => readFile(join(lake, folder, name), 'utf8')))
  return strings.flatMap((text, at) =>
    names[at]?.endsWith('.jsonl')
      ? text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line))
      : [JSON.parse(text)],
  )
}

const without = (value: Document, name: string): Document =>
  Object.fromEntries(Object.entries(value).filter(([own]) => own !== name))

/** Every field is on the page; each that is not optional there is missed by the form. */
const compare = (title: string, values: readonly Document[], isRight: (value: unknown) => boolean): void => {
  const fields = fieldsOf(title)
  expect(values.length, title).toBeGreaterThan(0)
  for (const value of values) {
    expect(isRight(value), title).toBe(true)
    for (const name of Object.keys(value)) {
      const field = fields.find((one) => one.name === name)
      expect(field, `${title}: ${name}`).toBeDefined()
      if (field?.isOptional) expect(isRight(without(value, name)), `${title}: ${name} is optional`).toBe(true)
    }
  }
}

const isPartition = (value: unknown): boolean => {
  try {
    lineToPartition(value)
    return true
  } catch {
    return false
  }
}

test('the page names the format, and every field of a lake', async () => {
  expect(PAGE).toContain(`has the format number ${FORMAT},`)
  const folder = await temporaryFolder()
  const lake = join(folder, 'lake')
  for (const seed of [3, 4]) await loadSample(folder, { companies: 20, seed })
  await compact({ lake })
  await loadSample(folder, { companies: 20, seed: 5 })
  const [first = ''] = await queryLake(lake, 'SELECT internal_id FROM companies ORDER BY ALL LIMIT 1')
  await forget({ lake, companies: [BigInt(String(first))] })
  await loadSample(folder, { companies: 20, seed: 6 })
  const roots = await documents(lake, '_manifest')
  compare('Snapshot', roots, isRoot)
  const refs = roots.flatMap(
    ({ partitions, files, merged }) => [partitions, files, merged].flat() as Document[],
  )
  compare('Part', refs, (value) => fits(PART_REF, value))
  const versions = roots.flatMap((root) => root.versions as Document[])
  compare('Versions of records', versions, (value) => fits(VERSION_FILE, value))
  const entries = await documents(lake, '_manifest/parts')
  const partitions = entries.filter((entry) => 'counts' in entry)
  compare('Partition', partitions, isPartition)
  compare(
    'File',
    entries.filter((entry) => 'table' in entry),
    (value) => fits(RUN_FILE, value),
  )
  const sources = partitions.flatMap((one) => one.sources as Document[])
  compare('Source', sources, () => true)
})

test('each field of the page that is not optional is demanded', () => {
  const pull: Document = {
    ...{ run: 'r', content: 'companies', service: 's', search: {}, asOf: 't' },
    ...{ announced: 1, planned: 1, received: 1, currency: 'SEK', field: 'f', from: 'd', to: 'd', gapLeft: 0 },
  }
  expect(
    fieldsOf('Pull')
      .map(({ name }) => name)
      .sort(),
  ).toEqual(Object.keys(pull).sort())
  for (const { name, isOptional } of fieldsOf('Pull'))
    expect(fits(PULL_ENTRY, without(pull, name)), name).toBe(isOptional)
})
