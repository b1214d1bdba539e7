import { expect, test } from 'vitest'
import { ProgressLine } from '../../../src/cli/output/progress-line.ts'
import { showFetch } from '../../../src/cli/output/show-fetch.ts'
import { barOf, TimeLeft, timeLeftText } from '../../../src/cli/output/time-left.ts'
import { watchRun } from '../../../src/cli/output/watch-run.ts'

const watched = (target: { isTTY?: boolean; columns?: number }, terminalOnly = false) => {
  const written: string[] = []
  const clock = { ms: 0 }
  const line = new ProgressLine({
    target: { ...target, write: (text) => written.push(text) },
    nowMs: () => clock.ms,
    terminalOnly,
  })
  return { line, written, clock }
}

test('ProgressLine writes a state at most every 5 seconds where there is no terminal', () => {
  const { line, written, clock } = watched({})
  line.log('begins')
  for (clock.ms = 0; clock.ms <= 12_000; clock.ms += 100) line.show(() => `at ${clock.ms}`)
  expect(written).toEqual(['begins\n', 'at 5000\n', 'at 10000\n'])
})

test('ProgressLine rewrites one line on a terminal, cut to its width, and clears it', () => {
  const { line, written, clock } = watched({ isTTY: true, columns: 8 })
  clock.ms = 100
  line.show(() => 'a long state')
  line.show(() => 'too soon')
  line.log('done')
  line.clear()
  expect(written).toEqual(['\r\u001b[2Ka long…', '\r\u001b[2K', 'done\n'])
})

test('ProgressLine for programs says nothing without a terminal', () => {
  const { line, written, clock } = watched({}, true)
  clock.ms = 60_000
  line.log('begins')
  line.show(() => 'state')
  expect(written).toEqual([])
})

test('ProgressLine shows nothing more once the work is told to stop, and takes away what stands', () => {
  const written: string[] = []
  const clock = { ms: 0 }
  let stopped = false
  const line = new ProgressLine({
    target: { isTTY: true, columns: 80, write: (text) => written.push(text) },
    nowMs: () => clock.ms,
    stopped: () => stopped,
  })
  clock.ms = 100
  line.show(() => 'a state')
  stopped = true
  clock.ms = 200
  line.show(() => 'one too many')
  line.clear()
  expect(written).toEqual(['\r\u001b[2Ka state', '\r\u001b[2K'])
})

const WIDE = { isTTY: true, columns: 200 }
const nothing = {
  ...{ bytesRead: 0, bytesTotal: 100e6, bytesLoaded: 0, decodedBytes: 0 },
  ...{ records: 0, quarantined: 0, rows: 0 },
}

test('watchRun shows no rate and no time left before there is one', () => {
  const { line, written, clock } = watched(WIDE)
  const onEvent = watchRun(line, () => clock.ms)
  clock.ms = 1_000
  onEvent({ kind: 'progress', progress: { sourcesDone: 0, sources: 4, ...nothing } })
  expect(written).toEqual([`\r\u001b[2K${'░'.repeat(16)}   0 %  0 records  0/4 sources`])
})

test('watchRun shows a bar, the share, the time left and the rate', () => {
  const { line, written, clock } = watched(WIDE)
  const onEvent = watchRun(line, () => clock.ms)
  for (const seconds of [1, 5, 10]) {
    clock.ms = seconds * 1000
    onEvent({
      kind: 'progress',
      progress: {
        ...{ sourcesDone: 1, sources: 4, quarantined: 2, rows: 9, records: 4321 },
        // All of it is read long before it is loaded.
        ...{
          bytesRead: 100e6,
          bytesTotal: 100e6,
          bytesLoaded: seconds * 2.5e6,
          decodedBytes: seconds * 50e6,
        },
      },
    })
  }
  expect(written.at(-1)).toBe(
    `\r\u001b[2K${'█'.repeat(4)}${'░'.repeat(12)}  25 %  about 30 s left  4,321 records  50.0 MB/s  1/4 sources  2 quarantined`,
  )
})

test('watchRun says less than 100 % when all is loaded: the commit follows', () => {
  const { line, written, clock } = watched(WIDE)
  const onEvent = watchRun(line, () => clock.ms)
  clock.ms = 1_000
  const all = { ...nothing, bytesRead: 100e6, bytesLoaded: 100e6, records: 5 }
  onEvent({ kind: 'progress', progress: { sourcesDone: 4, sources: 4, ...all } })
  expect(written).toEqual([`\r\u001b[2K${'█'.repeat(15)}░  99 %  5 records  4/4 sources`])
})

test('a log has the share and the time left without a bar, and a fetch is part of the work', () => {
  const { line, written, clock } = watched({})
  const show = showFetch(line)
  for (clock.ms = 0; clock.ms <= 20_000; clock.ms += 5000)
    show({
      ...{ phase: 'fetching', files: 3, filesTotal: 10 },
      ...{ bytes: clock.ms * 100, bytesTotal: 10_000_000 },
    })
  expect(written).toEqual([
    '5 %  Fetching 3/10 files  500 kB\n',
    '10 %  about 1 min 30 s left of this part  Fetching 3/10 files  1.00 MB\n',
    '15 %  about 1 min 30 s left of this part  Fetching 3/10 files  1.50 MB\n',
    '20 %  about 1 min 30 s left of this part  Fetching 3/10 files  2.00 MB\n',
  ])
})

test('a fetch of files is at 100 % only when all of them are here', () => {
  const { line, written, clock } = watched({})
  clock.ms = 5000
  showFetch(line)({ phase: 'fetching', files: 0, filesTotal: 1, bytes: 9999, bytesTotal: 10_000 })
  expect(written).toEqual(['99 %  Fetching 0/1 file  10.0 kB\n'])
})

/** Seconds left as they are said, of work that does a unit in each time. @param everyMs by the unit */
const guesses = (everyMs: readonly number[]): readonly (number | undefined)[] => {
  const left = new TimeLeft()
  let ms = 0
  return everyMs.map((time, at) => {
    ms += time
    return left.after(ms, { done: at + 1, total: everyMs.length })
  })
}

test('the time left of even work is what it takes; none is said within two seconds or 2 %', () => {
  const even = guesses(Array(100).fill(1000))
  expect(even.slice(0, 2)).toEqual([undefined, undefined])
  expect(even.slice(2)).toEqual(Array.from({ length: 98 }, (_, at) => 97 - at))
  expect(guesses(Array(1000).fill(1000)).findIndex((one) => one !== undefined)).toBe(19)
})

test('the time left follows work that becomes slower within half a minute, and says nothing while nothing moves', () => {
  const slower = guesses([...Array(50).fill(1000), ...Array(50).fill(5000)])
  expect(slower[49]).toBe(50)
  // After 35 seconds at the new rate: 43 units of 5 seconds.
  expect(slower[56]).toBeCloseTo(43 * 5, -1)
  const left = new TimeLeft()
  left.after(0, { done: 0, total: 10 })
  left.after(5000, { done: 5, total: 10 })
  for (let ms = 10_000; ms <= 60_000; ms += 5000) left.after(ms, { done: 5, total: 10 })
  expect(left.after(70_000, { done: 5, total: 10 })).toBeUndefined()
})

test('another part, another total and a step back begin anew', () => {
  const left = new TimeLeft()
  const at = (ms: number, done: number, part: string, total = 10) => left.after(ms, { done, total, part })
  at(0, 0, 'sorting')
  expect(at(5000, 5, 'sorting')).toBe(5)
  expect(at(6000, 1, 'writing')).toBeUndefined()
  expect(at(9000, 4, 'writing')).toBe(6)
  expect(at(10_000, 2, 'writing')).toBeUndefined()
  expect(at(13_000, 5, 'writing', 20)).toBeUndefined()
})

test('a time left is no finer than what is known of it', () => {
  expect([0.2, 7, 58, 61, 200, 3599, 3700, 9000].map((seconds) => timeLeftText(seconds))).toEqual([
    'about 5 s left',
    'about 10 s left',
    'about 1 min left',
    'about 1 min 30 s left',
    'about 3 min 30 s left',
    'about 1 h left',
    'about 1 h 5 min left',
    'about 2 h 30 min left',
  ])
})

test('a bar is full only when all is done', () => {
  expect([0, 50, 99.9, 100].map((done) => barOf({ done, total: 100 }))).toEqual([
    '░'.repeat(16),
    '█'.repeat(8) + '░'.repeat(8),
    `${'█'.repeat(15)}░`,
    '█'.repeat(16),
  ])
  expect(barOf({ done: 0, total: 0 })).toBe('░'.repeat(16))
})
