/**
 * The file of a snapshot as text and back. It carries its own hash: the SHA-256 of all bytes before its last two lines,
 * so `head -n -2 00000012.json | sha256sum` gives what its last field says. One part is one line.
 */

import { snapshotName } from '../../lake/files/layout.ts'
import { sha256Of } from '../../support/hash.ts'
import { JSON_BYTES } from '../../support/json-bytes.ts'
import { isObject } from '../../support/json-form.ts'
import { isLaterTool } from '../../support/own-package.ts'
import { FORMAT, isRoot, type RootDocument, rootMisfit } from '../form/root-form.ts'
import { countEntries, entriesOf, LIST_NAMES, type ListName, storedBy } from './parts.ts'
import { headOf, type SnapshotRoot } from './snapshot-root.ts'

const { CLOSE_BRACE, LINE_FEED } = JSON_BYTES

/** The end of a document: the hash of all that comes before. */
const ending = (sha256: string): string => `  "sha256": "${sha256}"\n}\n`
const ENDING_BYTES = ending('0'.repeat(64)).length

/** The beginning of a document: one field a line. */
const fieldLines = (fields: object): string =>
  Object.entries(fields)
    .map(([name, value]) => `  "${name}": ${JSON.stringify(value)},\n`)
    .join('')

/** An entry of a list, on a line of its own. */
const entryLine = (entry: unknown): string => `    ${JSON.stringify(entry)}`

const listLines = (name: string, entries: readonly unknown[]): string =>
  entries.length === 0
    ? `  "${name}": [],\n`
    : `  "${name}": [\n${entries.map(entryLine).join(',\n')}\n  ],\n`

/** The whole text of a snapshot's file. */
export const rootToText = ({ lists, versions, ...fields }: SnapshotRoot): string => {
  // Results of checks have come later: a lake without any says nothing of them.
  const names = LIST_NAMES.filter((name) => name !== 'checks' || lists.checks.length > 0)
  const strings = names.map((name) =>
    listLines(
      name,
      lists[name].map(({ ref }) => ref),
    ),
  )
  strings.push(listLines('versions', versions))
  const body = `{\n${fieldLines({ format: FORMAT, ...headOf(fields), ...fields })}${strings.join('')}`
  return body + ending(sha256Of(body))
}

const rootOfDocument = (document: RootDocument): SnapshotRoot => {
  const { format: _, sha256: __, partitions, files, pulls, merged, checks = [], ...fields } = document
  const stored = storedBy(document.tool)
  return {
    ...fields,
    lists: {
      partitions: partitions.map(stored),
      files: files.map(stored),
      pulls: pulls.map(stored),
      merged: merged.map(stored),
      checks: checks.map(stored),
    },
  }
}

type SnapshotRead =
  | { readonly kind: 'snapshot'; readonly root: SnapshotRoot }
  | { readonly kind: 'damaged'; readonly cut: boolean; readonly reason: string }
  /** Whole, and of a form that no release has written. */
  | { readonly kind: 'unreleased'; readonly tool: string }
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
    // A single changed byte cannot break both checks.
    const cut = bytes.at(-1) !== LINE_FEED && bytes.at(-2) !== CLOSE_BRACE
    return { kind: 'damaged', cut, reason: cut ? 'it ends too early' : 'it does not match its own hash' }
  }
  const value = parse(bytes)
  if (isRoot(value)) return { kind: 'snapshot', root: rootOfDocument(value) }
  const { format, tool = 'firmlake' } = isObject(value) ? value : {}
  if (typeof format === 'number' && format < FORMAT) return { kind: 'unreleased', tool: String(tool) }
  if ((typeof format === 'number' && format > FORMAT) || isLaterTool(String(tool)))
    return { kind: 'newer', tool: String(tool) }
  return { kind: 'damaged', cut: false, reason: `its form does not fit at "${rootMisfit(value)}"` }
}

/** The text of a commit's second record: a line as `sha256sum` writes it. */
export const recordText = (number: number, snapshotBytes: Uint8Array | string): string =>
  `${sha256Of(snapshotBytes)}  ${snapshotName(number)}\n`

/** The text of the file that says where the kept snapshots begin. */
export const oldestText = (number: number): string => `snapshots below ${number} were removed by gc\n`

async function* listText(lake: string, root: SnapshotRoot, name: ListName): AsyncGenerator<string> {
  const length = countEntries(root.lists[name])
  yield `,\n  "${name}": [${length === 0 ? ']' : '\n'}`
  for await (const { place, entries } of entriesOf(lake, name, root.lists[name])) {
    const isLast = place + entries.length === length
    yield `${entries.map(entryLine).join(',\n')}${isLast ? '\n  ]' : ',\n'}`
  }
}

/** @throws {ToolkitError} `SNAPSHOT_DAMAGED`, `LAKE_NEWER` */
export async function* documentText(lake: string, root: SnapshotRoot): AsyncGenerator<string> {
  const { forgotten } = root
  yield `{\n${fieldLines({ format: FORMAT, ...headOf(root), ...(forgotten && { forgotten }) }).slice(0, -2)}`
  for (const name of LIST_NAMES)
    if (name === 'partitions' || name === 'files' || countEntries(root.lists[name]) > 0)
      yield* listText(lake, root, name)
  yield `,\n${listLines('versions', root.versions).slice(0, -2)}\n}\n`
}
