import { expect, test } from 'vitest'
import type { Caller } from '../../src/server/access/caller.ts'
import type { Answer } from '../../src/server/search/shared/answer.ts'
import { type OpenSnapshot, ServedSnapshots } from '../../src/server/served-snapshots.ts'

const CALLER: Caller = { name: 'test', rights: 'everything' }
const { signal } = new AbortController()

/** A snapshot whose pages name it; its cursors are its number. A search waits for `gate`. */
const snapshotOf = (number: number, gate: Promise<void> = Promise.resolve()) => {
  const state = { closed: 0 }
  const search = async (body: string): Promise<Answer> => {
    await gate
    const own = `after ${number}`
    if (body !== '*' && body !== own) return { kind: 'refused', messages: ['x'], isCursorInvalid: true }
    const pagination = {
      Count: 1,
      TotalCount: 2,
      PageSize: 1,
      TotalPages: 2,
      Cursor: body === '*' ? own : null,
    }
    return { kind: 'page', pagination, body: [Buffer.from(String(number))] }
  }
  const snapshot: OpenSnapshot = {
    ...{ number, sha256: '', asOf: '', segments: [], countries: [], companies: search, relations: search },
    protectedDigest: '',
    close: async () => {
      state.closed += 1
    },
  }
  return { snapshot, state }
}

const clock = () => {
  const time = { ms: 0 }
  return { time, now: () => time.ms }
}
const TIMES = { idleMs: 100, mostMs: 1000 }

const asker = (served: ServedSnapshots) => async (body: string) => {
  const answer = await served.search('companies')(body, CALLER, signal)
  return answer.kind === 'refused' ? 'refused' : Buffer.concat(answer.body).toString()
}

test('ServedSnapshots closes the snapshot before at once where no chain was begun on it', async () => {
  const [first, second] = [snapshotOf(1), snapshotOf(2)]
  const served = new ServedSnapshots(first.snapshot)
  const ask = asker(served)
  expect([await ask('after 7'), served.isHeld()]).toEqual(['refused', false])
  served.moveTo(second.snapshot)
  expect([served.current.number, first.state.closed, served.isHeld()]).toEqual([2, 1, false])
  expect(await ask('*')).toBe('2')
  await served.close()
  expect([first.state.closed, second.state.closed]).toEqual([1, 1])
})

test('ServedSnapshots ends a request on the snapshot on which it began, and closes that one after it', async () => {
  const gate = Promise.withResolvers<void>()
  const first = snapshotOf(1, gate.promise)
  const served = new ServedSnapshots(first.snapshot)
  const asking = asker(served)('after 1')
  served.moveTo(snapshotOf(2).snapshot)
  served.moveTo(snapshotOf(3).snapshot)
  expect(first.state.closed).toBe(0)
  gate.resolve()
  expect(await asking).toBe('1')
  expect(first.state.closed).toBe(1)
})

test('ServedSnapshots goes on with a chain on its snapshot while new ones begin on the newer one', async () => {
  const { time, now } = clock()
  const first = snapshotOf(1)
  const served = new ServedSnapshots(first.snapshot, TIMES, now)
  const ask = asker(served)
  expect(await ask('*')).toBe('1')
  served.moveTo(snapshotOf(2).snapshot)
  time.ms = 100
  expect(served.isHeld()).toBe(true)
  expect([await ask('after 1'), await ask('*'), await ask('after 2'), await ask('after 3')]).toEqual([
    ...['1', '2', '2', 'refused'],
  ])
  time.ms = 101
  expect([served.isHeld(), first.state.closed]).toEqual([false, 1])
  expect(await ask('after 1')).toBe('refused')
})

test('ServedSnapshots lets each page of a chain hold its snapshot for its time, and all of them together for so long', async () => {
  const { time, now } = clock()
  const first = snapshotOf(1)
  const served = new ServedSnapshots(first.snapshot, TIMES, now)
  const ask = asker(served)
  await ask('*')
  served.moveTo({
    ...snapshotOf(2).snapshot,
    companies: async () => ({ kind: 'refused', messages: [], isCursorInvalid: true }),
  })
  for (time.ms = 90; time.ms <= 1000; time.ms += 90) {
    expect(await ask('*')).toBe('1')
    expect(served.isHeld()).toBe(true)
  }
  time.ms = 1001
  expect([served.isHeld(), first.state.closed]).toEqual([false, 1])
})
