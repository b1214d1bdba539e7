/** `verify`: recomputes every hash and count of a lake and names what differs. */

import type { Command } from 'commander'
import { ToolkitError } from '../../core/errors.ts'
import { EXIT } from '../../core/exit-codes.ts'
import type { VerifyResult } from '../../jobs/verify.ts'
import type { VerifyProgress } from '../../manifest/verify/verify-lake.ts'
import type { ValuesOf } from '../../options/entry.ts'
import { VERIFY_COMMAND } from '../../options/read-jobs.ts'
import { formatBytes, formatCount, formatCounted, formatRate } from '../../support/format.ts'
import { addCommand } from '../add-command.ts'
import { note, printJson, printLines } from '../output/print.ts'
import { ProgressLine } from '../output/progress-line.ts'
import { textTable } from '../output/text-table.ts'

export const addVerify = (program: Command): void => {
  addCommand(program, {
    name: 'verify',
    summary: 'prove that a lake is what its manifest says',
    description:
      'Reads every file that a kept snapshot lists, serving indexes and batch files, recomputes hashes and counts, ' +
      'and names each file that is changed, cut, missing or unreadable. With --targets also each target that shows what ' +
      'the lake does not have. Ends with 1 when there is one. Changes nothing; with --repair it first writes lake.duckdb and ' +
      'lake.ducklake again, whose paths are absolute.',
    options: VERIFY_COMMAND,
    run: runVerify,
    examples: [
      ['verify --lake ./lake', 'the whole lake'],
      ['verify --lake ./lake --repair', 'after the lake was moved'],
      [
        'verify --lake ./lake --targets --sink firms.duckdb',
        'whether a target shows rows of this lake alone',
      ],
      ["verify --lake ./lake --json | jq -r '.problems[].path'", 'the paths of bad files'],
    ],
  })
}

const runVerify = async ({
  lake,
  snapshot,
  targets,
  sinks,
  repair,
  json,
}: ValuesOf<typeof VERIFY_COMMAND>): Promise<void> => {
  const repaired = repair ? await repairLakeFiles(lake, json === true) : {}
  const line = new ProgressLine({ terminalOnly: json === true })
  const { verify } = await import('../../jobs/verify.ts')
  const { catalogFromEnvironment } = await import('../../targets/catalog-environment.ts')
  try {
    const startMs = performance.now()
    const onProgress = (progress: VerifyProgress): void =>
      line.show(() => stateText(progress, (performance.now() - startMs) / 1000), {
        amount: { done: progress.bytes, total: progress.bytesTotal },
      })
    const asked = targets && { targets: { sinks, catalog: catalogFromEnvironment() } }
    const found = await verify({ lake, snapshot, ...asked, onProgress })
    line.clear()
    await report(lake, found, json === true, repaired)
  } finally {
    line.clear()
  }
}

/** @returns what the JSON says of it */
const repairLakeFiles = async (lake: string, json: boolean): Promise<object> => {
  const { writeLakeFiles } = await import('../../manifest/lake-file/lake-file.ts')
  const { views, catalog } = await writeLakeFiles(lake)
  const named = [
    ['lake.duckdb', views],
    ['lake.ducklake', catalog],
  ] as const
  if (!json)
    for (const [name, one] of named)
      note(
        one.kind === 'written'
          ? `Wrote ${name} of snapshot ${one.snapshot}`
          : `Wrote no ${name}: ${one.reason}`,
      )
  const numbers = named.map(([name, one]) => [name, one.kind === 'written' ? one.snapshot : null] as const)
  return { repaired: Object.fromEntries(numbers) }
}

const report = async (lake: string, found: VerifyResult, json: boolean, repaired: object): Promise<void> => {
  const { snapshots, files, bytes, rows, madeFiles, problems, notes, targets = [] } = found
  const refused = targets.filter(({ state }) => state === 'refused')
  // Set before anything is printed: a reader that goes away must not turn a bad lake into a good one.
  if (problems.length + refused.length > 0) process.exitCode = EXIT.failed
  if (json) await printJson({ lake, ok: problems.length + refused.length === 0, ...found, ...repaired })
  else {
    for (const one of notes) note(`note: ${one}`)
    await printLines(
      problems.length > 0
        ? textTable(
            [{ title: 'problem' }, { title: 'file' }, { title: 'what is wrong' }],
            problems.map(({ path, problem, detail }) => [problem, path, detail]),
          )
        : [
            `Verified: ${formatCounted(snapshots, 'snapshot')}, ` +
              `${formatCounted(files, 'file')}, ${formatBytes(bytes)}, ${formatCounted(rows, 'row')} match the manifest` +
              `${madeFiles > 0 ? `; ${formatCounted(madeFiles, 'file')} for serving` : ''}.`,
          ],
    )
    if (targets.length > 0)
      await printLines(
        textTable(
          [{ title: 'target' }, { title: 'state' }],
          targets.map(({ target, state, code }) => [target, code ?? state]),
        ),
      )
  }
  if (problems.length > 0) {
    const bad = new Set(problems.map(({ path }) => path)).size
    const text = `Lake "${lake}" is damaged: ${formatCounted(bad, 'bad file')}`
    throw new ToolkitError('LAKE_DAMAGED', text, { lake, problems: problems.length })
  }
  const [first] = refused
  if (first?.code === undefined) return
  const strings = refused.map(({ target, detail }) => `"${target}": ${detail}`)
  throw new ToolkitError(first.code, strings.join('; '), { lake, targets: refused.length })
}

const stateText = ({ files, filesTotal, bytes }: VerifyProgress, seconds: number): string =>
  `${formatBytes(bytes)}  ${formatRate(bytes, seconds)}  ${formatCount(files)}/${formatCounted(filesTotal, 'file')}`
