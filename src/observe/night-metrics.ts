/** The totals of a nightly run, and its metrics as a text file of Prometheus for the textfile collector of a node exporter. */

import { constants } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { CheckResult } from '../core/checks.ts'
import { isCompaction } from '../core/source-kinds.ts'
import type { CommittedWork } from '../core/stages.ts'
import { replaceDurably } from '../support/durable-files.ts'
import { withMode } from '../support/file-modes.ts'

interface EndedNight {
  readonly lake: string
  readonly exitCode: number
  readonly started: Date
  readonly ended: Date
  readonly totals: NightTotals
  /** Checks that failed. */
  readonly checks: readonly CheckResult[]
}

/** A label's value, as the text format quotes it. */
const quoted = (value: string): string =>
  `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`

const secondsOf = (time: Date): number => time.getTime() / 1000

const LAST_SUCCESS = 'firmlake_night_last_success_timestamp_seconds'

/** The last night that ended well, as the file of the night before says. */
const lastSuccess = (before: string): number | undefined => {
  const [, value] = new RegExp(`^${LAST_SUCCESS}\\{.*\\} ([\\d.e+]+)$`, 'm').exec(before) ?? []
  return value === undefined ? undefined : Number(value)
}

/** @param before the file of the night before, empty for none */
const metricsText = (night: EndedNight, before: string): string => {
  const { lake, exitCode, started, ended, totals, checks } = night
  const done = exitCode === 0
  const succeeded = done ? secondsOf(ended) : lastSuccess(before)
  const one = (value: number | undefined) => (value === undefined ? [] : [['', value] as const])
  const by = (label: string, sums: ReadonlyMap<string, number>) =>
    [...sums].map(([name, value]) => [`,${label}=${quoted(name)}`, value] as const)
  const byCheck = (read: (one: CheckResult) => number | null | undefined) =>
    checks.flatMap((one) => {
      const value = read(one) ?? null
      return value === null ? [] : [[`,check=${quoted(one.name)}`, value] as const]
    })
  const metrics = [
    ['firmlake_night_success', 'Whether the last night ended with exit code 0.', one(done ? 1 : 0)],
    ['firmlake_night_exit_code', 'Exit code of the last night.', one(exitCode)],
    ['firmlake_night_end_timestamp_seconds', 'When the last night ended.', one(secondsOf(ended))],
    [LAST_SUCCESS, 'When a night last ended with exit code 0.', one(succeeded)],
    [
      'firmlake_night_duration_seconds',
      'How long the last night took.',
      one((ended.getTime() - started.getTime()) / 1000),
    ],
    ['firmlake_night_snapshot', 'Snapshot that the last night made; absent for none.', one(totals.snapshot)],
    ['firmlake_night_records', 'Records that the last night committed.', by('content', totals.records)],
    [
      'firmlake_night_quarantined',
      'Bad lines of what the last night committed.',
      by('content', totals.quarantined),
    ],
    ['firmlake_night_rows', 'Rows that the last night committed.', by('table', totals.rows)],
    ['firmlake_night_bytes', 'Bytes of the files that the last night committed.', by('table', totals.bytes)],
    ['firmlake_night_check_failed', 'Checks that failed in the last night.', byCheck(() => 1)],
    ['firmlake_night_check_value', 'What a check that failed found.', byCheck(({ value }) => value)],
    ['firmlake_night_check_limit', 'The limit of a check that failed.', byCheck(({ limit }) => limit)],
  ] as const
  return metrics
    .filter(([, , values]) => values.length > 0)
    .map(
      ([name, help, values]) =>
        `# HELP ${name} ${help}\n# TYPE ${name} gauge\n` +
        values.map(([labels, value]) => `${name}{lake=${quoted(lake)}${labels}} ${value}\n`).join(''),
    )
    .join('')
}

const READ_NO_LINK = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)

/** Writes the file whole and readable by others: a collector may come at any time, as a user of its own. */
export const writeMetricsFile = async (path: string, night: EndedNight): Promise<void> => {
  const before = await readFile(path, { encoding: 'utf8', flag: READ_NO_LINK }).catch(() => '')
  await replaceDurably(path, metricsText(night, before), { access: withMode(0o644) })
}

type Sums = Map<string, number>

const add = (sums: Sums, name: string, value: number): void => {
  sums.set(name, (sums.get(name) ?? 0) + value)
}

export class NightTotals {
  readonly records: Sums = new Map()
  readonly quarantined: Sums = new Map()
  readonly rows: Sums = new Map()
  readonly bytes: Sums = new Map()
  /** The last one; absent where nothing came. */
  snapshot: number | undefined

  add({ snapshot, partitions }: CommittedWork): void {
    if (snapshot === undefined) return
    this.snapshot = snapshot.snapshot
    // A compaction brings nothing new.
    for (const { content, counts, files } of partitions.filter(({ source }) => !isCompaction(source))) {
      add(this.records, content, counts.records)
      add(this.quarantined, content, counts.quarantined)
      for (const { table, rows, bytes } of files) {
        add(this.rows, table, rows)
        add(this.bytes, table, bytes)
      }
    }
  }
}
