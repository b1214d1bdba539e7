import { expect, test } from 'vitest'
import { compareLakes } from '../../src/cli/demo/compare-lakes.ts'
import { checkRoundTrip } from '../../src/cli/demo/round-trip.ts'
import { companyLine, openBench, relationsLine } from '../run/batch-bench.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('compareLakes finds rows of one lake only, a Score of one country only, and checkRoundTrip refuses them', async () => {
  const [one, other] = [openBench(await temporaryFolder()), openBench(await temporaryFolder())]
  const compare = async (scoreOf: string) => {
    const tables = await compareLakes(one.lake, other.lake, {
      ...{ scoreOf, memoryBytes: 256 * 1024 ** 2 },
      signal: new AbortController().signal,
    })
    return Object.fromEntries(tables.map(({ table, ...counts }) => [table, Object.values(counts)]))
  }
  await one.write('companies.jsonl', [companyLine(1), companyLine(2), companyLine(3, { Score: 0.5 })])
  await one.write('relations.jsonl', [7, 8].map(relationsLine))
  await other.write('companies.jsonl', [
    companyLine(1),
    companyLine(2, {}, 9),
    companyLine(3),
    companyLine(4),
  ])
  await other.write('relations.jsonl', [8].map(relationsLine))
  for (const bench of [one, other]) await bench.run(['companies.jsonl', 'relations.jsonl'])
  expect(await compare('PL')).toEqual({
    ...{ companies: [3, 1, 2], financials: [6, 0, 2], employees: [0, 0, 0] },
    ...{ relations: [2, 1, 0], relation_entities: [2, 1, 0], ownerships: [0, 0, 0], roles: [0, 0, 0] },
    line_items: [104, 0, 0],
  })
  expect(await compare('SE')).toMatchObject({ companies: [3, 2, 3] })
})

test('checkRoundTrip refuses lakes that differ in a table', () => {
  const same = { table: 'companies', rows: 3, onlyFirst: 0, onlySecond: 0 }
  expect(() => checkRoundTrip({ compared: [same] })).not.toThrow()
  expect(() =>
    checkRoundTrip({ compared: [same, { ...same, table: 'roles', onlyFirst: 2, onlySecond: 1 }] }),
  ).toThrow(expect.objectContaining({ code: 'RECORDS_DIFFER', context: { onlyFirst: 2, onlySecond: 1 } }))
})

test('demo refuses a lake that holds far more than the sample', async () => {
  const cwd = await temporaryFolder()
  const bench = openBench(cwd)
  const lines = Array.from({ length: 20_001 }, (_, at) => `{"BasicDetails":{"InternalId":${at + 1}}}`)
  await bench.write('companies.jsonl', lines)
  await bench.run(['companies.jsonl'])
  const { code, stderr } = await runCommand(['demo'], { cwd })
  expect(code).toBe(2)
  expect(stderr).toContain('holds 20913 companies')
})
