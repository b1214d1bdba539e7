import { expect, test } from 'vitest'
import { fromRecords, type Records } from '../../src/source/from-records.ts'

const textOf = async (records: Records | (() => Records), name = 'mine'): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of fromRecords(name, records).open()) chunks.push(chunk)
  return String(Buffer.concat(chunks))
}

test('fromRecords gives a line of JSON for each record, with every digit of a bigint', async () => {
  const records = [{ InternalId: 9007199254740993n, Name: 'line\nbreak' }, null, 'text']
  expect(await textOf(records)).toBe('{"InternalId":9007199254740993,"Name":"line\\nbreak"}\nnull\n"text"\n')
})

test('fromRecords gives many records in few chunks, and nothing for none', async () => {
  let chunks = 0
  const many = Array.from({ length: 50_000 }, (_, id) => ({ id }))
  for await (const _ of fromRecords('many', many).open()) chunks += 1
  expect(chunks).toBeLessThan(10)
  expect(await textOf([])).toBe('')
})

test.each([
  ['undefined', undefined],
  ['a function', () => 1],
  [
    'an object in a circle',
    (() => {
      const own: { self?: object } = {}
      own.self = own
      return own
    })(),
  ],
])('fromRecords refuses %s and names the record by its number', async (_what, record) => {
  await expect(textOf([{ id: 1 }, record])).rejects.toMatchObject({
    code: 'SOURCE_FORM',
    context: { source: 'mine', record: 2 },
  })
})

test('fromRecords keeps what the iterable throws as the cause, and its words to itself', async () => {
  const lost = new Error('connection to db-17 lost, password geheim')
  async function* failing() {
    yield { id: 1 }
    throw lost
  }
  const error: unknown = await textOf(failing()).catch((reason: unknown) => reason)
  expect(error).toMatchObject({ code: 'SOURCE_UNREADABLE', cause: lost, context: { record: 1 } })
  expect(String(error)).not.toContain('geheim')
})

test('fromRecords of a function has a fingerprint, and refuses other records the second time', async () => {
  let calls = 0
  const source = fromRecords('mine', () => [{ id: ++calls }])
  expect(await source.fingerprint?.()).toMatchObject({ bytes: '{"id":1}\n'.length })
  const reading = async (): Promise<void> => {
    for await (const _ of source.open());
  }
  await expect(reading()).rejects.toMatchObject({ code: 'SOURCE_CHANGED' })
})

test('fromRecords of an iterable has no fingerprint: it can be read only once', () => {
  expect(fromRecords('mine', [{ id: 1 }]).fingerprint).toBeUndefined()
})
