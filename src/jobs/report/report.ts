/** `report`: one HTML file about a lake, with the statements that its charts and tables are made of. */

import { lstat, readdir, rm } from 'node:fs/promises'
import { dirname, join, posix, resolve } from 'node:path'
import { definitionNames } from '../../analysis/definitions.ts'
import { checkOptions, each, is, type OptionTypes } from '../../core/check-options.ts'
import { orInterrupted, ToolkitError, writeError } from '../../core/errors.ts'
import { folderOf, isBucket } from '../../core/lake-address.ts'
import { interruptOn } from '../../lake/duckdb/stoppable.ts'
import type { LakeQuery } from '../../lake/query/lake-query.ts'
import { listRuns } from '../../manifest/runs/runs.ts'
import { readRoot } from '../../manifest/snapshots/snapshots.ts'
import { pagesOf } from '../../report/pages.ts'
import type { OpenRun } from '../../report/render-loads.ts'
import type { ReportPage, SectionAnswer } from '../../report/section.ts'
import { openStorage } from '../../storage/open-storage.ts'
import { replaceDurably } from '../../support/durable-files.ts'
import { outputAccess, withMode } from '../../support/file-modes.ts'
import { TOOL } from '../../support/own-package.ts'
import { temporaryLiveness } from '../../support/process-identity.ts'
import {
  checkCompanies,
  checkLoads,
  EXPECTATION_OPTIONS,
  type Expectations,
  loadFactsOf,
} from '../check/check-loads.ts'
import { readRows } from '../common/read-rows.ts'
import { openQuery, type QueryOptions } from '../query/query.ts'

/** Options of `report`. */
export interface ReportOptions
  extends Expectations,
    Pick<QueryOptions, 'lake' | 'snapshot' | 'memoryBytes' | 'threads' | 'signal' | 'check' | 'aroundFetch'> {
  /** The file, or `s3://bucket/prefix/report.html`, which ends in `.html`; one that is there is replaced. */
  readonly to: string
  /** Line items with a heat map of their own. @default NetSales, EBITDA */
  readonly lineItems?: readonly string[] | undefined
  /** @default the clock */
  readonly now?: (() => Date) | undefined
}

/** The report that was written. */
export interface WrittenReport {
  readonly lake: string
  readonly snapshot: number
  /** Absolute, or in a bucket its address. */
  readonly path: string
  readonly bytes: number
  readonly pages: number
  readonly sections: number
}

const DEFAULT_ITEMS = ['NetSales', 'EBITDA']
const RULE = /^quality_(?!findings$)/
const MOST_RUNS = 100

const rules = (): readonly string[] =>
  [...definitionNames()].filter((name) => RULE.test(name)).map((name) => name.replace(RULE, ''))

const answerOf = async (lake: LakeQuery, sql: string): Promise<SectionAnswer> => {
  const result = await lake.run(sql)
  return { columns: result.columns.map(({ name }) => name), rows: await readRows(result) }
}

/** Views that several sections read, each of which would read all figures for them. */
const SHARED_VIEWS = ['restatements', 'quality_findings'] as const

/** Every section bounds its rows, so all of them fit in memory. */
const answersOf = async (
  lake: LakeQuery,
  pages: readonly ReportPage[],
): Promise<ReadonlyMap<string, SectionAnswer>> => {
  for (const view of SHARED_VIEWS) await lake.workOut(view)
  const answers = new Map<string, SectionAnswer>()
  for (const { id, sql } of pages.flatMap(({ sections }) => sections))
    answers.set(id, await answerOf(lake, sql))
  return answers
}

const openRuns = async (lake: string, now: Date): Promise<readonly OpenRun[]> =>
  (await listRuns(lake, { now }))
    .filter(({ committed }) => committed === null)
    .slice(-MOST_RUNS)
    .map(({ run, state, failure }) => ({
      run,
      state,
      reason: failure ? `${failure.code}: ${failure.message}` : '',
    }))

const OPTIONS: OptionTypes<ReportOptions> = {
  ...EXPECTATION_OPTIONS,
  lake: is.lake,
  to: is.required(is.text, 'a file that ends in .html'),
  check: is.oneOf('first-read', 'every-read', 'never'),
  memoryBytes: is.amount,
  ...each(is.count, 'snapshot', 'threads'),
  ...each(is.callback, 'now', 'aroundFetch'),
  signal: is.signal,
  lineItems: is.texts,
}

/**
 * Writes one static HTML file about a snapshot: loads, coverage, drift, quarantine, restatements and quality as charts, each
 * with its statement and its numbers. The file loads nothing and holds no script.
 *
 * @throws {ToolkitError} `TARGET_REFUSED` where the file does not end in `.html`, `LAKE_NOT_FOUND`, `SNAPSHOT_NOT_FOUND`,
 *   `SNAPSHOT_DAMAGED`, `LAKE_DAMAGED`, `QUERY_FAILED`, `DISK_FULL`, `WRITE_FAILED`, `STORAGE_REFUSED`, `STORAGE_FAILED`,
 *   `INTERRUPTED`; an earlier report stays then
 * @example
 * import { convert, report } from 'firmlake'
 *
 * await convert({ from: ['batches/'], lake: './lake' })
 * const { snapshot, pages } = await report({ lake: './lake', to: 'report.html', maxAgeMs: 26 * 3600 * 1000 })
 * console.log(snapshot, pages) // 1 7
 */
export const report = async (options: ReportOptions): Promise<WrittenReport> => {
  checkOptions('report', OPTIONS, options)
  const { lake, to, lineItems = DEFAULT_ITEMS, memoryBytes, threads, check, aroundFetch, signal } = options
  const target = reportTarget(to)
  const now = (options.now ?? (() => new Date()))()
  const root = await readRoot(lake, options.snapshot)
  const facts = await loadFactsOf(lake, root)
  const pages = pagesOf({ lineItems, rules: rules() })
  const opened = await openQuery({ lake, snapshot: root.snapshot, memoryBytes, threads, check, aroundFetch })
  const ended = interruptOn(opened, signal)
  try {
    const answers = await orInterrupted('The report', signal, () => answersOf(opened, pages))
    // Only here: what draws the charts is large.
    const { renderReport } = await import('../../report/render-report.ts')
    const text = renderReport({
      ...{ lake, snapshot: root.snapshot, tool: TOOL, now, pages, answers },
      checks: [...checkLoads(facts, options, now), ...(await checkCompanies(opened, options))],
      openRuns: await openRuns(lake, now),
      forgotten: root.forgotten ?? [],
    })
    const bytes = Buffer.from(text)
    await target.write(bytes)
    const sections = pages.reduce((sum, page) => sum + page.sections.length, 0)
    return {
      lake,
      snapshot: root.snapshot,
      path: target.path,
      bytes: bytes.length,
      pages: pages.length,
      sections,
    }
  } finally {
    ended()
    opened.close()
  }
}

/** A place for one page. */
interface ReportTarget {
  /** An absolute path, or `s3://bucket/prefix/report.html`. */
  readonly path: string
  /** @throws {ToolkitError} `DISK_FULL`, `WRITE_FAILED`, `STORAGE_REFUSED`, `STORAGE_FAILED`; an earlier page stays then */
  readonly write: (page: Uint8Array) => Promise<void>
}

/** Removes unfinished files that killed processes left beside the page; what cannot be removed stays. */
const removeLeftovers = async (folder: string): Promise<void> => {
  const names = await readdir(folder).catch(() => [])
  for (const name of names)
    if (temporaryLiveness(name) === 'gone')
      await rm(join(folder, name), { force: true }).catch(() => undefined)
}

/** No file of a lake, nor of its targets, is a page: a typing error replaces none of them. @throws {ToolkitError} `TARGET_REFUSED`, `USAGE` */
export const reportTarget = (to: string): ReportTarget => {
  if (!/\.html?$/i.test(to))
    throw new ToolkitError(
      'TARGET_REFUSED',
      `Cannot write the report "${to}": expected a file that ends in .html`,
    )
  if (isBucket(to)) {
    const [storage, name] = [openStorage(folderOf(to)), posix.basename(to)]
    return { path: `${storage.uri}/${name}`, write: (page) => storage.replace(name, page) }
  }
  const path = resolve(to)
  return {
    path,
    write: async (page) => {
      await removeLeftovers(dirname(path))
      const before = await lstat(path).catch(() => null)
      // A page that was opened to others, such as a web server, stays open.
      const access = before?.isFile() === true ? withMode(before.mode & 0o777) : outputAccess
      await replaceDurably(path, page, { access }).catch((error: unknown) => {
        throw writeError(`Cannot write the report "${path}"`, error)
      })
    },
  }
}
