import { expect, test } from 'vitest'
import { ProgressLine } from '../../../src/cli/output/progress-line.ts'
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

test('watchRun tells no rate before there is one', () => {
  const { line, written, clock } = watched({ isTTY: true, columns: 200 })
  const onEvent = watchRun(line, () => clock.ms)
  clock.ms = 1_000
  const nothing = { bytesRead: 0, bytesTotal: 100, decodedBytes: 0, records: 0, quarantined: 0, rows: 0 }
  onEvent({ kind: 'progress', progress: { sourcesDone: 0, sources: 4, ...nothing } })
  expect(written).toEqual(['\r\u001b[2K0/4 sources  0 %  0 records'])
})

test('watchRun tells share, rate and remaining time', () => {
  const { line, written, clock } = watched({ isTTY: true, columns: 200 })
  const onEvent = watchRun(line, () => clock.ms)
  clock.ms = 10_000
  onEvent({
    kind: 'progress',
    progress: {
      sourcesDone: 1,
      sources: 4,
      bytesRead: 25e6,
      bytesTotal: 100e6,
      decodedBytes: 500e6,
      records: 4321,
      quarantined: 2,
      rows: 9,
    },
  })
  expect(written).toEqual([
    '\r\u001b[2K1/4 sources  25 %  50.0 MB/s  4,321 records  2 quarantined  30 s left',
  ])
})
