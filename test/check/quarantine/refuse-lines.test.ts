import { expect, test } from 'vitest'
import { refuseLines } from '../../../src/check/quarantine/refuse-lines.ts'
import type { Content } from '../../../src/contract/objects.ts'
import type { RefusedIds } from '../../../src/core/lines.ts'

const REFUSED: RefusedIds = {
  isCompany: (id: bigint) => id === 7n,
  isEntity: (id: bigint) => id === 7n || id === 8n,
}

/** The lines of a block when all is taken out of it that is refused; each has the length that it had. */
const rest = (lines: readonly string[], content: Content, refused = REFUSED): string[] => {
  const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''))
  const block = refuseLines(refused)({ bytes, firstLine: 1, offset: 0, overlong: [] }, content)
  const left = block.bytes.toString('utf8').split('\n').slice(0, -1)
  expect(left.map((line) => Buffer.byteLength(line))).toEqual(lines.map((line) => Buffer.byteLength(line)))
  return left.map((line) => line.trimEnd())
}

test('refuseLines leaves of a refused company its id alone', () => {
  const other = '{"BasicDetails":{"InternalId":70,"CompanyName":"Åre 7"}}'
  expect(rest([other, '{"BasicDetails":{"CompanyName":"Öre","InternalId": 7}}', other], 'companies')).toEqual(
    [other, '{"BasicDetails":{"InternalId":7}}', other],
  )
  expect(rest(['{"Name":"Öre","InternalId":7}'], 'relations')).toEqual(['{"InternalId":7}'])
})

test('refuseLines tells ids apart that JavaScript rounds', () => {
  const [id, other] = [2n ** 63n - 1n, 2n ** 63n - 2n]
  const line = (one: bigint): string => `{"BasicDetails":{"CompanyName":"Öre","InternalId":${one}}}`
  const refused = { isCompany: (one: bigint) => one === id, isEntity: (one: bigint) => one === id }
  expect(rest([line(id), line(other)], 'companies', refused)).toEqual([
    `{"BasicDetails":{"InternalId":${id}}}`,
    line(other),
  ])
})

test('refuseLines takes refused entities out of relations, at any depth', () => {
  const line =
    '{"InternalId":1, "Parents":[{"InternalId":8,"Name":"A"},{"InternalId":9,"History":[{"InternalId":7},{"InternalId":10}]}],"Children":[]}'
  expect(rest([line], 'relations').map((one) => JSON.parse(one))).toEqual([
    { InternalId: 1, Parents: [{ InternalId: 9, History: [{ InternalId: 10 }] }], Children: [] },
  ])
})

test('refuseLines knows refused ids whatever form the member and the number have', () => {
  const line = (name: string, id: string): string =>
    `{"Text":"\\u00e5 \\u0049","InternalId":1,"Parents":[{"${name}" : ${id},"Name":"Gone"},{"InternalId":9}]}`
  const forms = ['Internal\\u0049d', '\\u0049\\u006E\\u0074\\u0065\\u0072\\u006E\\u0061\\u006C\\u0049\\u0064']
  const numbers = ['8', '"8"', '8.0', '8e0', '0.8E+1']
  const lines = [...forms, 'InternalId'].flatMap((name) => numbers.map((id) => line(name, id)))
  for (const one of rest(lines, 'relations')) expect(JSON.parse(one).Parents).toEqual([{ InternalId: 9 }])
  const others = [
    line('Internal\\\\u0049d', '8'),
    line('Internal\\u0049D', '8'),
    line('Internal\\u0049d', '80'),
  ]
  expect(rest(others, 'relations')).toEqual(others)
})

test('refuseLines leaves nothing of a line that nobody can read', () => {
  const cut = '{"BasicDetails":{"InternalId":7,"CompanyName":"Öre"}'
  expect(rest([cut, '{"Name":"x","Parents":[{"InternalId":"8"}]}'], 'relations')).toEqual([
    '"forgotten"',
    '"forgotten"',
  ])
})

test('refuseLines leaves nothing of the head of a line that is too long', () => {
  const line = (id: number) => ({
    ...{ line: id, offset: 0, sizeBytes: 100 },
    head: Buffer.from(`{"InternalId":${id},"Name":`),
  })
  const block = { bytes: Buffer.alloc(0), firstLine: 1, offset: 0, overlong: [line(7), line(9)] }
  const { overlong } = refuseLines(REFUSED)(block, 'relations')
  expect(overlong.map(({ head }) => head.length)).toEqual([0, line(9).head.length])
})
