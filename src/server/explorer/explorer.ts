/**
 * Answers named questions over the lake's tables of the snapshot that is served, in turns: what the explorer takes from the interface
 * is bounded.
 */

import { definitionsFor, namesIn } from '../../analysis/definitions.ts'
import type { Session } from '../../lake/duckdb/engine.ts'
import { inLake, SERVE_FOLDER } from '../../lake/files/layout.ts'
import type { LakeQuery } from '../../lake/query/lake-query.ts'
import { partitionsOf } from '../../manifest/snapshots/partitions-of.ts'
import { FormError } from '../../support/json-form.ts'
import { type Caller, textOf } from '../access/caller.ts'
import { type RecentValues, remembered } from '../search/shared/recent-values.ts'
import { BROWSE_QUESTIONS } from './browse-questions.ts'
import { CONTEXT_QUESTIONS } from './company-context.ts'
import { LIST_READS, listStatements } from './company-list.ts'
import { COMPANY_QUESTIONS } from './company-questions.ts'
import { COMPARE_QUESTIONS } from './compare-question.ts'
import { findLakePersons, PERSON_READS } from './lake-persons.ts'
import { type LakeTurnsSettings, newLakeTurns, type OpenedSnapshot } from './lake-turns.ts'
import { narrowedList, narrowedViews } from './narrowed-views.ts'
import { OWNERSHIP_QUESTIONS } from './ownership-question.ts'
import { PROOF_QUESTIONS } from './proof-question.ts'
import type { AnswerTable, MaySee, PartitionsOf, Question, QuestionAnswer, RunStatement } from './question.ts'
import { REPORT_QUESTIONS } from './report-questions.ts'

const QUESTIONS = new Map<string, Question>(
  Object.entries({
    ...BROWSE_QUESTIONS,
    ...COMPANY_QUESTIONS,
    ...COMPARE_QUESTIONS,
    ...CONTEXT_QUESTIONS,
    ...OWNERSHIP_QUESTIONS,
    ...PROOF_QUESTIONS,
    ...REPORT_QUESTIONS,
  }),
)

export type ExplorerReply =
  | ({ readonly kind: 'answer'; readonly snapshot: number } & QuestionAnswer)
  /** HTTP 400 with these messages. */
  | { readonly kind: 'refused'; readonly messages: readonly string[] }
  /** There is no question of this name. */
  | { readonly kind: 'unknown' }
  /** The question is about the whole lake, and the caller sees a part of it. */
  | { readonly kind: 'forbidden' }
  /** The server has no memory for it. */
  | { readonly kind: 'off' }

/** Answers a question; its parameters are checked. */
export type AskExplorer = (
  name: string,
  parameters: unknown,
  caller: Caller,
  signal: AbortSignal,
) => Promise<ExplorerReply>

export interface Explorer {
  readonly ask: AskExplorer
  close(): Promise<void>
}

export interface ExplorerSettings extends LakeTurnsSettings {
  /** Attaches the serving index of a snapshot as the schema `serving`. @default there is none: companies cannot be browsed */
  readonly attachIndex?: ((session: Session, snapshot: number) => Promise<void>) | undefined
}

/** The state of an open snapshot: answers that are kept, and whose views stand. */
interface Seen {
  /** Whether the protected persons are found. */
  hasPersons: boolean
  readonly kept: RecentValues<QuestionAnswer>
  /** As whose views stand; `null` while they are made. */
  rights: Caller['rights'] | null
  hasList: boolean
}

const MOST_KEPT = 100

class OfWholeLake extends Error {}

/** Facts of the manifest and lines in quarantine belong to no country. */
const WHOLE_LAKE = /\b(fact_(snapshots|partitions|sources|drift|pulls)|quarantine)\b/

/** The ids of runs by which `load_changes` leaves loads out tell nothing. */
const LEFT_OUT = 'SELECT run FROM firmlake.fact_partitions() WHERE is_merged'

const isOfWholeLake = (sql: string): boolean =>
  WHOLE_LAKE.test(
    [sql, ...definitionsFor(namesIn(sql)).map((one) => one.sql)].join('\n').replaceAll(LEFT_OUT, ''),
  )

export const maySeeOf =
  ({ rights }: Caller): MaySee =>
  (sql) =>
    rights === 'everything' || !isOfWholeLake(sql)

/** JSON has no whole numbers beyond 64 bits of a double: those are texts. */
const jsonValue = (value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)

const rowsOf = async (lake: LakeQuery, sql: string, values: readonly string[]): Promise<AnswerTable> => {
  const result = await lake.run(sql, values)
  const rows: unknown[][] = []
  for await (const chunk of result.rows) for (const row of chunk) rows.push(row.map(jsonValue))
  return { columns: result.columns.map(({ name }) => name), rows }
}

/** Opens nothing before the first question. With 0 bytes of memory every question is refused. */
export const newExplorer = (settings: ExplorerSettings): Explorer => {
  const { lake, attachIndex } = settings
  const opens = attachIndex === undefined ? [] : [inLake(lake, SERVE_FOLDER)]
  const turns = newLakeTurns({ ...settings, opens })
  const seen = new WeakMap<OpenedSnapshot, Seen>()

  const seenOf = (opened: OpenedSnapshot): Seen => {
    const one = seen.get(opened) ?? { kept: new Map(), hasPersons: false, rights: null, hasList: false }
    seen.set(opened, one)
    return one
  }

  const narrow = async ({ lake }: OpenedSnapshot, one: Seen, rights: Caller['rights']): Promise<void> => {
    one.rights = null
    if (!one.hasPersons) {
      // A view that is explained is made readable, and not read.
      for (const view of PERSON_READS) await rowsOf(lake, `EXPLAIN FROM ${view}`, [])
      await lake.prepare([], findLakePersons)
      one.hasPersons = true
    }
    await lake.narrow([...narrowedViews(rights), ...(one.hasList ? [narrowedList(rights)] : [])])
  }

  /** Everything that follows until the turn is over is seen with these rights. */
  const seeAs = async (opened: OpenedSnapshot, one: Seen, { rights }: Caller): Promise<void> => {
    if (one.rights === rights) return
    await narrow(opened, one, rights)
    one.rights = rights
  }

  /** Works the list of all companies out, which each caller then sees a part of. */
  const makeList = async (opened: OpenedSnapshot, one: Seen): Promise<void> => {
    const { attachIndex } = settings
    const { lake, snapshot } = opened
    if (one.hasList || attachIndex === undefined) return
    await narrow(opened, one, 'everything')
    await rowsOf(lake, `SELECT max(internal_id) FROM ${LIST_READS}`, [])
    await lake.prepare([], async (session) => {
      await attachIndex(session, snapshot)
      for (const sql of listStatements()) await session.run(sql)
    })
    one.hasList = true
  }

  const answer = async (
    { answer: answerIt, isKept, needsList }: Question,
    keyOf: () => string,
    body: unknown,
    caller: Caller,
    [opened, ends]: readonly [OpenedSnapshot, AbortSignal],
  ): Promise<ExplorerReply> => {
    const one = seenOf(opened)
    if (needsList) await makeList(opened, one)
    await seeAs(opened, one, caller)
    const maySee = maySeeOf(caller)
    const run: RunStatement = async (sql, values = []) => {
      ends.throwIfAborted()
      if (!maySee(sql)) throw new OfWholeLake()
      return rowsOf(opened.lake, sql, values)
    }
    const loadsOf: PartitionsOf = (loads) => partitionsOf(lake, opened.root, loads)
    const make = (): Promise<QuestionAnswer> => answerIt(run, body, maySee, loadsOf)
    const found = isKept ? await remembered(one.kept, MOST_KEPT, keyOf(), make) : await make()
    return { kind: 'answer', snapshot: opened.snapshot, ...found }
  }

  return {
    ask: async (name, parameters, caller, signal) => {
      const found = QUESTIONS.get(name)
      if (found === undefined) return { kind: 'unknown' }
      if (settings.memoryBytes === 0 || (found.needsList && settings.attachIndex === undefined))
        return { kind: 'off' }
      try {
        // Not by the caller's name: its rights may have changed since.
        const keyOf = (): string => JSON.stringify([textOf(caller.rights), name, parameters])
        return await turns.take(caller.name, signal, (...turn) =>
          answer(found, keyOf, parameters, caller, turn),
        )
      } catch (error) {
        if (error instanceof FormError) return { kind: 'refused', messages: [`${error.message}.`] }
        if (error instanceof OfWholeLake) return { kind: 'forbidden' }
        throw error
      }
    },
    close: () => turns.close(),
  }
}
