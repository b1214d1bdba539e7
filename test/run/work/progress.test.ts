import { expect, test } from 'vitest'
import { type Progress, WorkProgress } from '../../../src/run/work/progress.ts'

const counts = { records: 10, quarantined: 0, rows: 10 }

test('the loaded share follows the blocks of all sources, not what is read of them', () => {
  const shares: number[] = []
  const seen = ({ bytesLoaded, bytesTotal = 0 }: Progress): number => bytesLoaded / bytesTotal
  const [small, large] = [{ sizeBytes: 100 }, { sizeBytes: 300 }]
  const progress = new WorkProgress([small, large], (event) => {
    if (event.kind === 'progress') shares.push(seen(event.progress))
  })
  progress.read(100)
  progress.hand(1000)
  progress.read(300)
  progress.hand(3000)
  expect(shares).toEqual([0, 0])
  progress.load(counts, 1000)
  progress.done(0, small)
  // A block that begins takes nothing back.
  progress.hand(4000)
  progress.load(counts, 0)
  expect(shares.slice(2)).toEqual([0.25, 0.25, 0.25])
  progress.load(counts, 3000)
  progress.load(counts, 4000)
  expect(shares.slice(-2)).toEqual([0.5, 1])
})
