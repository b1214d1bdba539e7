/**
 * A snapshot as text and back. It carries its own hash: the SHA-256 of all bytes before its last two lines,
 * so `head -n -2 00000012.json | sha256sum` gives what its last field says. One partition is one line.
 */

import type { Snapshot } from '../core/partition.ts'
import { snapshotName } from '../lake/lake/layout.ts'
import { sha256Of } from '../support/hash.ts'
import { JSON_BYTES } from '../support/json-bytes.ts'
import { isObject } from '../support/json-form.ts'
import { TOOL } from '../support/tool-version.ts'
import { FORMAT, isSnapshot, snapshotMisfit } from './snapshot-form.ts'

const { CLOSE_BRACE, LINE_FEED } = JSON_BYTES

const ending = (sha256: string): string => `  "sha256": "${sha256}"\n}\n`
const ENDING_BYTES = ending('0'.repeat(64)).length

const lines = (entries: readonly unknown[]): string =>
  entries.length === 0 ? '[]' : `[\n${entries.map((one) => `    ${JSON.stringify(one)}`).join(',\n')}\n  ]`

/** The whole text of a snapshot's file. */
export const snapshotToText = (snapshot: Snapshot): string => {
  const {
    format,
    snapshot: number,
    parent,
    run,
    pipeline,
    tool,
    time,
    partitions,
    files,
    pulls,
    merged,
  } = snapshot
  const head = Object.entries({ format, snapshot: number, parent, run, pipeline, tool, time })
    .map(([name, value]) => `  "${name}": ${JSON.stringify(value)},\n`)
    .join('')
  const lists = Object.entries({ partitions, files, ...(pulls && { pulls }), ...(merged && { merged }) })
    .map(([name, entries]) => `  "${name}": ${lines(entries)},\n`)
    .join('')
  const body = `{\n${head}${lists}`
  return body + ending(sha256Of(body))
}

export type SnapshotRead =
  | { readonly kind: 'snapshot'; readonly snapshot: Snapshot }
  | { readonly kind: 'damaged'; readonly cut: boolean; readonly reason: string }
  /** Whole, and of a form that only a later release knows; `tool` made it. */
  | { readonly kind: 'newer'; readonly tool: string }

const parse = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}

/** Reads a snapshot's file. Every byte counts: one that is changed anywhere is found. */
export const bytesToSnapshot = (bytes: Buffer): SnapshotRead => {
  const body = bytes.subarray(0, Math.max(0, bytes.length - ENDING_BYTES))
  if (bytes.subarray(body.length).toString('latin1') !== ending(sha256Of(body))) {
    // One changed byte leaves at least one of the last two as it was.
    const cut = bytes.at(-1) !== LINE_FEED && bytes.at(-2) !== CLOSE_BRACE
    return { kind: 'damaged', cut, reason: cut ? 'it ends too early' : 'it does not match its own hash' }
  }
  const value = parse(bytes)
  if (isSnapshot(value)) return { kind: 'snapshot', snapshot: value }
  const tool = laterTool(value)
  return tool === null
    ? { kind: 'damaged', cut: false, reason: `its form does not fit at "${snapshotMisfit(value)}"` }
    : { kind: 'newer', tool }
}

const versionOf = (tool: string): readonly number[] =>
  (/ (\d+)\.(\d+)\.(\d+)/.exec(tool) ?? []).slice(1).map(Number)

const isLater = (tool: string): boolean => {
  const own = versionOf(TOOL)
  const differing = versionOf(tool).findIndex((part, at) => part !== own[at])
  return differing >= 0 && Number(versionOf(tool)[differing]) > Number(own[differing])
}

/** The release that made what this one cannot read: its format is a later one, or its tool is. */
const laterTool = (value: unknown): string | null => {
  if (!isObject(value)) return null
  const tool = typeof value.tool === 'string' ? value.tool : 'a later firmlake'
  return Number(value.format) > FORMAT || isLater(tool) ? tool : null
}

/** The text of a commit's second record: a line as `sha256sum` writes it. */
export const recordText = (number: number, snapshotBytes: Uint8Array | string): string =>
  `${sha256Of(snapshotBytes)}  ${snapshotName(number)}\n`

/** The text of the file that says where the kept snapshots begin. */
export const oldestText = (number: number): string => `snapshots below ${number} were removed by gc\n`
