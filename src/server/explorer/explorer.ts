/**
 * Answers named questions over the lake's tables of the snapshot that is served. One statement runs at a time, in an engine of its own
 * that is opened with the first question: what the explorer takes from the interface is bounded.
 */

import { definitionsFor, namesIn } from '../../analysis/definitions.ts'
import { ToolkitError } from '../../core/errors.ts'
import { interruptOn } from '../../lake/duckdb/stoppable.ts'
import { type LakeQuery, openLakeQuery } from '../../lake/query/lake-query.ts'
import { computedOfLake } from '../../manifest/form/projections.ts'
import { readFactsOf } from '../../manifest/snapshots/read-facts.ts'
import { readTableListed } from '../../manifest/snapshots/snapshot-root.ts'
import { readRoot } from '../../manifest/snapshots/snapshots.ts'
import { FormError } from '../../support/json-form.ts'
import { type Caller, textOf } from '../access/caller.ts'
import { type RecentValues, remembered } from '../search/shared/recent-values.ts'
import { COMPANY_QUESTIONS } from './company-questions.ts'
import { fairTurns } from './fair-turns.ts'
import { narrowedViews } from './narrowed-views.ts'
import { OWNERSHIP_QUESTIONS } from './ownership-question.ts'
import type { AnswerTable, Question, QuestionAnswer, RunStatement } from './question.ts'
import { REPORT_QUESTIONS } from './report-questions.ts'

const QUESTIONS = new Map<string, Question>(
  Object.entries({ ...COMPANY_QUESTIONS, ...OWNERSHIP_QUESTIONS, ...REPORT_QUESTIONS }),
)

export type ExplorerReply =
  | ({ readonly kind: 'answer'; readonly snapshot: number } & QuestionAnswer)
  /** HTTP 400 with these messages. */
  | { readonly kind: 'refused'; readonly messages: readonly string[] }
  /** There is no question of this name. */
  | { readonly kind: 'unknown' }
  /** It is about the whole lake, and the caller sees a part of it. */
  | { readonly kind: 'forbidden' }
  /** The server has no memory for it. */
  | { readonly kind: 'off' }

/** Answers a question; `body` is the request's body as it came. */
export type AskExplorer = (
  name: string,
  body: string,
  caller: Caller,
  signal: AbortSignal,
) => Promise<ExplorerReply>

export interface ExplorerSettings {
  readonly lake: string
  /** Number of the snapshot that is served. */
  readonly served: () => number
  /** DuckDB's memory in bytes; with 0 every question is refused. */
  readonly memoryBytes: number
  readonly threads?: number | undefined
  /** Longest time of a question, the wait for its turn included, in milliseconds. */
  readonly timeoutMs: number
}

export interface Explorer {
  readonly ask: AskExplorer
  close(): Promise<void>
}

interface Opened {
  readonly lake: LakeQuery
  readonly snapshot: number
  readonly kept: RecentValues<QuestionAnswer>
  /** As whose views stand; `null` while they are made. */
  rights: Caller['rights'] | null
}

const MOST_KEPT = 100

/** No name of a token, for the turn of the close. */
const CLOSER = ''
const NEVER = new AbortController().signal

class OfWholeLake extends Error {}

/** Facts of the manifest and lines in quarantine belong to no country. */
const WHOLE_LAKE = /\b(fact_(snapshots|partitions|sources|drift|pulls)|quarantine)\b/

const isOfWholeLake = (sql: string): boolean =>
  WHOLE_LAKE.test([sql, ...definitionsFor(namesIn(sql)).map((one) => one.sql)].join('\n'))

const openSnapshot = async (settings: ExplorerSettings, snapshot: number): Promise<Opened> => {
  const { lake, memoryBytes, threads } = settings
  const root = await readRoot(lake, snapshot)
  const query = await openLakeQuery({
    ...{ lake, memoryBytes, threads },
    snapshot: (table) => readTableListed(lake, root, table),
    facts: readFactsOf(lake, root),
    computed: await computedOfLake(root),
  })
  return { lake: query, snapshot, kept: new Map(), rights: null }
}

/** JSON has no whole numbers beyond 64 bits of a double: those are texts. */
const jsonValue = (value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)

const rowsOf = async (lake: LakeQuery, sql: string, values: readonly string[]): Promise<AnswerTable> => {
  const result = await lake.run(sql, values)
  const rows: unknown[][] = []
  for await (const chunk of result.rows) for (const row of chunk) rows.push(row.map(jsonValue))
  return { columns: result.columns.map(({ name }) => name), rows }
}

const isUsable = (lake: LakeQuery): Promise<boolean> =>
  rowsOf(lake, 'SELECT 1', []).then(
    () => true,
    () => false,
  )

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body === '' ? '{}' : body)
  } catch {
    throw new FormError('the body', 'JSON')
  }
}

/** Fails when the signal fires, whatever becomes of the work. */
const orAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    work.then(resolve, reject)
  })

/** Opens nothing before the first question. */
export const newExplorer = (settings: ExplorerSettings): Explorer => {
  const tooLong = (): ToolkitError =>
    new ToolkitError('QUERY_FAILED', `Cannot answer: it took longer than ${settings.timeoutMs} ms`)
  const takeTurn = fairTurns(settings.timeoutMs, tooLong)
  let opened: Opened | undefined
  const close = (): void => {
    opened?.lake.close()
    opened = undefined
  }

  const current = async (): Promise<Opened> => {
    const snapshot = settings.served()
    if (opened?.snapshot === snapshot) return opened
    close()
    opened = await openSnapshot(settings, snapshot)
    return opened
  }

  /** All that follows until the turn is over is seen with these rights. */
  const seeAs = async (one: Opened, { rights }: Caller): Promise<void> => {
    if (one.rights === rights) return
    one.rights = null
    await one.lake.narrow(narrowedViews(rights))
    one.rights = rights
  }

  const answer = async (
    { answer: answerIt, isKept }: Question,
    keyOf: () => string,
    body: unknown,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<ExplorerReply> => {
    signal.throwIfAborted()
    const one = await current()
    const ended = interruptOn(one.lake, signal)
    try {
      await seeAs(one, caller)
      const maySee = (sql: string): boolean => caller.rights === 'everything' || !isOfWholeLake(sql)
      const run: RunStatement = async (sql, values = []) => {
        signal.throwIfAborted()
        if (!maySee(sql)) throw new OfWholeLake()
        return rowsOf(one.lake, sql, values)
      }
      const make = (): Promise<QuestionAnswer> => answerIt(run, body, maySee)
      const found = isKept ? await remembered(one.kept, MOST_KEPT, keyOf(), make) : await make()
      return { kind: 'answer', snapshot: one.snapshot, ...found }
    } catch (error) {
      ended()
      // A fatal error makes a whole engine useless: another one takes its place.
      if (!(await isUsable(one.lake))) close()
      throw signal.aborted ? signal.reason : error
    } finally {
      ended()
    }
  }

  return {
    ask: async (name, body, caller, signal) => {
      const found = QUESTIONS.get(name)
      if (found === undefined) return { kind: 'unknown' }
      if (settings.memoryBytes === 0) return { kind: 'off' }
      const late = new AbortController()
      const timer = setTimeout(() => late.abort(tooLong()), settings.timeoutMs)
      const ends = AbortSignal.any([signal, late.signal])
      try {
        const parameters = parsed(body)
        // Not by the caller's name: its rights may have changed since.
        const keyOf = (): string => JSON.stringify([textOf(caller.rights), name, parameters])
        return await orAborted(
          takeTurn(caller.name, (turn) => answer(found, keyOf, parameters, caller, turn), ends),
          ends,
        )
      } catch (error) {
        if (error instanceof FormError) return { kind: 'refused', messages: [`${error.message}.`] }
        if (error instanceof OfWholeLake) return { kind: 'forbidden' }
        throw error
      } finally {
        clearTimeout(timer)
      }
    },
    close: () => takeTurn(CLOSER, async () => close(), NEVER),
  }
}
