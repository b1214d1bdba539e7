/** `report`: one HTML file about a lake, with the statements that its charts and tables are made of. */

import { lstat, rm } from 'node:fs/promises'
import { dirname, join, posix, resolve } from 'node:path'
import { definitionNames } from '../analysis/definitions.ts'
import { checkCompanies, checkLoads, loadFactsOf } from '../checks/check-loads.ts'
import { orInterrupted, ToolkitError, writeError } from '../core/errors.ts'
import { folderOf, isBucket } from '../core/lake-address.ts'
import { interruptOn } from '../lake/duckdb/stoppable.ts'
import type { LakeQuery } from '../lake/query/lake-query.ts'
import { readRows } from '../lake/query/read-rows.ts'
import { listRuns } from '../manifest/runs/runs.ts'
import { readChosenRoot } from '../manifest/snapshots/held.ts'
import { openRoot } from '../manifest/snapshots/open-root.ts'
import type { Read } from '../options/entry.ts'
import type { ReportOptions } from '../options/interfaces.ts'
import { job } from '../options/job.ts'
import { REPORT } from '../options/report.ts'
import { NEWLY_RESTATED_ID, SALES_CHANGES_ID } from '../report/pages/business.ts'
import { RESTATEMENTS_ID } from '../report/pages/changes.ts'
import { namedCompanies } from '../report/pages/companies.ts'
import { FINDINGS_ID } from '../report/pages/quality.ts'
import { pagesOf } from '../report/pages.ts'
import type { OpenRun } from '../report/render-loads.ts'
import { renderReport } from '../report/render-report.ts'
import { TOP } from '../report/render-section.ts'
import type { ReportPage, SectionAnswer } from '../report/section.ts'
import { openStorage } from '../storage/open-storage.ts'
import { replaceDurably } from '../support/durable-files.ts'
import { outputAccess, withMode } from '../support/file-modes.ts'
import { removeLeftovers, statPath } from '../support/list-files.ts'
import { TOOL } from '../support/own-package.ts'
import { temporaryName } from '../support/process-identity.ts'
import { DAY_MS } from '../support/quantities.ts'

/** How far a report is; its parts take different times. */
export interface ReportProgress {
  /** Title of the section, or name of the view, that is asked for now. */
  readonly part: string
  readonly partsDone: number
  readonly parts: number
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

/**
 * Views that several sections read, each of which would read all figures for them. One rule of quality_findings after the
 * other: in one statement all of them would need memory at the same time.
 */
const sharedViews = (): readonly string[] => ['restatements', ...rules().map((rule) => `quality_${rule}`)]

/** Every section bounds its rows, so all of them fit in memory. */
const answersOf = async (
  lake: LakeQuery,
  pages: readonly ReportPage[],
  onProgress: ReportOptions['onProgress'],
): Promise<Map<string, SectionAnswer>> => {
  const views = sharedViews()
  const sections = pages.flatMap((page) => page.sections)
  const parts = views.length + sections.length
  for (const [at, view] of views.entries()) {
    onProgress?.({ part: view, partsDone: at, parts })
    await lake.workOut(view)
  }
  const answers = new Map<string, SectionAnswer>()
  for (const [at, { id, title, sql }] of sections.entries()) {
    onProgress?.({ part: title, partsDone: views.length + at, parts })
    answers.set(id, await answerOf(lake, sql))
  }
  return answers
}

/** The companies that the first rows of these sections name. */
const namedIds = (answers: ReadonlyMap<string, SectionAnswer>): readonly string[] => {
  const ids = [RESTATEMENTS_ID, SALES_CHANGES_ID, NEWLY_RESTATED_ID, FINDINGS_ID].flatMap((id) =>
    (answers.get(id)?.rows ?? []).slice(0, TOP).map((row) => String(row.internal_id)),
  )
  return [...new Set(ids)].filter((id) => /^-?\d+$/.test(id))
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

type Asked = Read<ReportOptions, typeof REPORT>

/** When a run began, by its id, as a day: `2026-11-22`. */
const dayOf = (run: string): string => run.replace(/^(\d{4})(\d\d)(\d\d).*$/, '$1-$2-$3')

/** An address without the end that names a place on its page. */
const placeless = (address: string | undefined): string | undefined =>
  address === undefined ? undefined : new URL(address).href.replace(/#.*$/, '')

const written = async (options: Asked): Promise<WrittenReport> => {
  const { lake, to, lineItems = DEFAULT_ITEMS, memoryBytes, threads, check, aroundFetch, signal } = options
  const { title, logoText, language } = options
  const explorer = placeless(options.explorer)
  const target = reportTarget(to)
  const now = (options.now ?? (() => new Date()))()
  const root = await readChosenRoot(lake, options)
  await target.check()
  const facts = await loadFactsOf(lake, root)
  const loadChecks = checkLoads(facts, options, now)
  const runs = await openRuns(lake, now)
  const pages = pagesOf({
    lineItems,
    rules: rules(),
    nights: {
      failed: [...new Set(runs.filter(({ state }) => state === 'gone').map(({ run }) => dayOf(run)))],
      // A report of an earlier snapshot says nothing of the nights after it.
      ...(options.snapshot === undefined && {
        until: new Date(now.getTime() - DAY_MS).toISOString().slice(0, 10),
      }),
      isBelow: loadChecks.some(({ name, status }) => name === 'fall_companies' && status === 'failed'),
    },
  })
  const opened = await openRoot(root, { lake, memoryBytes, threads, check, aroundFetch })
  const ended = interruptOn(opened, signal)
  try {
    const answers = await orInterrupted('The report', signal, () =>
      answersOf(opened, pages, options.onProgress),
    )
    const ids = explorer === undefined ? namedIds(answers) : []
    const named = ids.length === 0 ? undefined : namedCompanies(ids)
    if (named !== undefined)
      answers.set(named.id, await orInterrupted('The report', signal, () => answerOf(opened, named.sql)))
    const text = renderReport({
      ...{
        lake,
        snapshot: root.snapshot,
        tool: TOOL,
        now,
        pages,
        named,
        answers,
        title,
        logoText,
        language,
        explorer,
      },
      checks: [...loadChecks, ...(await checkCompanies(opened, options))],
      openRuns: runs,
      forgotten: root.forgotten ?? [],
    })
    const bytes = Buffer.from(text)
    await target.write(bytes)
    const sections = answers.size
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

/**
 * Writes one static HTML file about a snapshot: loads, coverage, drift, quarantine, restatements and quality as charts, each
 * with its statement and its numbers; first what failed. The file loads nothing and holds no script.
 *
 * @throws {ToolkitError} `TARGET_REFUSED` where the file does not end in `.html`, `LAKE_NOT_FOUND`, `SNAPSHOT_NOT_FOUND`,
 *   `SNAPSHOT_DAMAGED`, `LAKE_DAMAGED`, `QUERY_FAILED`, `DISK_FULL`, `WRITE_FAILED`, `STORAGE_REFUSED`, `STORAGE_FAILED`,
 *   `INTERRUPTED`; an earlier report stays then
 * @example
 * import { convert, report } from 'firmlake'
 *
 * await convert({ from: ['batches/'], lake: './lake' })
 * const { snapshot, pages } = await report({ lake: './lake', to: 'report.html', maxAgeMs: 26 * 3600 * 1000 })
 * console.log(snapshot, pages) // 1 8
 */
export const report: (options: ReportOptions) => Promise<WrittenReport> = job('report', REPORT, written)

/** A place for one page. */
interface ReportTarget {
  /** An absolute path, or `s3://bucket/prefix/report.html`. */
  readonly path: string
  /** Writes a file beside it and removes that: a place that refuses the page does so before it is made. @throws as `write` */
  readonly check: () => Promise<void>
  /** @throws {ToolkitError} `DISK_FULL`, `WRITE_FAILED`, `STORAGE_REFUSED`, `STORAGE_FAILED`; an earlier page stays then */
  readonly write: (page: Uint8Array) => Promise<void>
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
    return {
      path: `${storage.uri}/${name}`,
      check: async () => {
        const probe = temporaryName()
        await storage.replace(probe, '')
        // A person who may write a page need not be allowed to remove one.
        await storage.remove([probe]).catch(() => undefined)
      },
      write: (page) => storage.replace(name, page),
    }
  }
  const path = resolve(to)
  return {
    path,
    check: async () => {
      if ((await statPath(path))?.kind === 'folder')
        throw new ToolkitError('TARGET_REFUSED', `Cannot write the report "${path}": it is a folder`)
      const probe = join(dirname(path), temporaryName())
      await replaceDurably(probe, '').catch((error: unknown) => {
        throw writeError(`Cannot write the report "${path}"`, error)
      })
      await rm(probe, { force: true })
    },
    write: async (page) => {
      await removeLeftovers(dirname(path)).catch(() => undefined)
      const before = await lstat(path).catch(() => null)
      // A page that was opened to others, such as a web server, stays open.
      const access = before?.isFile() === true ? withMode(before.mode & 0o777) : outputAccess
      await replaceDurably(path, page, { access }).catch((error: unknown) => {
        throw writeError(`Cannot write the report "${path}"`, error)
      })
    },
  }
}
