import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { fairTurns } from '../../../src/server/explorer/fair-turns.ts'

const NEVER = new AbortController().signal
const TIMEOUT_MS = 30_000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
})

/** Work that ends when it is told to, and notes its begin and its end. */
const bench = () => {
  const takeTurn = fairTurns(TIMEOUT_MS, () => new Error('too long'))
  const noted: string[] = []
  const ends = new Map<string, () => void>()
  const ask = (caller: string, what: string, signal = NEVER): Promise<unknown> =>
    takeTurn(
      caller,
      (turn) =>
        new Promise<void>((resolve, reject) => {
          noted.push(`${caller}${what}`)
          ends.set(`${caller}${what}`, resolve)
          turn.addEventListener('abort', () => reject(turn.reason))
        }),
      signal,
    ).then(
      () => 'done',
      (error: Error) => error.message,
    )
  return { noted, ask, end: (name: string) => ends.get(name)?.() }
}

test('however much one caller asks, another one is next', async () => {
  const { noted, ask, end } = bench()
  const asked = ['1', '2', '3', '4'].map((what) => ask('a', what))
  const others = [ask('b', '1'), ask('c', '1')]
  await vi.advanceTimersByTimeAsync(0)
  for (const name of ['a1', 'b1', 'c1', 'a2', 'a3', 'a4']) {
    expect(noted.at(-1)).toBe(name)
    end(name)
    await vi.advanceTimersByTimeAsync(0)
  }
  expect(await Promise.all([...asked, ...others])).toEqual(Array(6).fill('done'))
})

test('work that nobody waits for takes its time, work that others wait for its share of it', async () => {
  const { noted, ask, end } = bench()
  const long = ask('a', '1')
  await vi.advanceTimersByTimeAsync(TIMEOUT_MS)
  expect(noted).toEqual(['a1'])
  end('a1')
  expect(await long).toBe('done')

  const second = ask('a', '2')
  await vi.advanceTimersByTimeAsync(TIMEOUT_MS / 2 - 1)
  // More of its own caller is no reason.
  const own = ask('a', '3')
  await vi.advanceTimersByTimeAsync(TIMEOUT_MS / 4)
  const other = ask('b', '1')
  await vi.advanceTimersByTimeAsync(0)
  expect(await second).toBe('too long')
  expect(noted).toEqual(['a1', 'a2', 'b1'])
  // Two share the time in halves, three in thirds.
  await vi.advanceTimersByTimeAsync(TIMEOUT_MS / 3)
  const third = ask('c', '1')
  await vi.advanceTimersByTimeAsync(0)
  expect(await other).toBe('too long')
  expect(noted.at(-1)).toBe('a3')
  end('a3')
  await vi.advanceTimersByTimeAsync(0)
  end('c1')
  expect(await Promise.all([own, third])).toEqual(['done', 'done'])
})

test('work whose caller has gone takes no turn', async () => {
  const { noted, ask, end } = bench()
  const gone = new AbortController()
  const [first, second, third] = [ask('a', '1'), ask('a', '2', gone.signal), ask('a', '3')]
  gone.abort(new Error('gone'))
  await vi.advanceTimersByTimeAsync(0)
  end('a1')
  await vi.advanceTimersByTimeAsync(0)
  end('a3')
  expect(await Promise.all([first, second, third])).toEqual(['done', 'gone', 'done'])
  expect(noted).toEqual(['a1', 'a3'])
})
