/** Tools that say what a lake holds and what its names mean. They read its manifest and the declarations, and no record. */

import { definitionNames, definitionsFor } from '../analysis/definitions.ts'
import { documentationOf } from '../analysis/documentation.ts'
import { ToolkitError } from '../core/errors.ts'
import { listLakeTables } from '../jobs/query/list-tables.ts'
import { type LakeStatus, readStatus } from '../jobs/status/lake-status.ts'
import { LISTINGS, QUARANTINE, TABLES } from '../lake/tables/tables.ts'
import { baseComments, type Comments } from '../lake/views/comments.ts'
import { computedOfLake } from '../manifest/form/projections.ts'
import { readRoot } from '../manifest/snapshots/snapshots.ts'
import { textLike } from '../support/json-form.ts'
import { nearestName } from '../support/nearest-name.ts'
import { type AgentTool, agentTool } from './agent-tool.ts'
import { jsonRows, newAnswer } from './bounded-answer.ts'

const listTables = (lake: string): AgentTool =>
  agentTool({
    name: 'list_tables',
    title: 'Tables, views and macros',
    description:
      'The tables of the lake with their rows, and the views and macros over them. Each table name stands for the current version ' +
      'of each record; <name>_history has all versions. rows null: the manifest counts all versions only.',
    parameters: {},
    fields: {},
    answer: async () => {
      const { snapshot, tables } = await listLakeTables(lake)
      const answer = newAnswer()
      answer.put('snapshot', snapshot)
      const listed = tables.map(({ table: { name, row, key }, rows, historyRows }) => ({
        ...{ name, row, key, rows },
        history_rows: historyRows,
      }))
      await answer.list('tables', jsonRows(listed))
      const views = definitionsFor().map((one) => [one.signature, one.kind, documentationOf(one).about])
      await answer.list('views', jsonRows(views.sort(([a = ''], [b = '']) => (a < b ? -1 : 1))))
      return answer.text()
    },
  })

/** The declared type of a column of a table, of its current or all versions. */
const typeIn = (view: string, column: string): string | null =>
  [...TABLES, QUARANTINE, LISTINGS]
    .find(({ name }) => name === view.replace(/_(history|all)$/, ''))
    ?.columns.find(({ name }) => name === column)?.type ?? null

const baseView = ({ name, about, columns }: Comments): object => ({
  ...{ name, kind: 'view', about },
  columns: columns.map(([column, meaning]) => [column, typeIn(name, column), meaning]),
})

const described = (name: string, base: readonly Comments[]): object => {
  const view = base.find((one) => one.name === name)
  if (view !== undefined) return baseView(view)
  const definition = definitionsFor([name]).at(-1)
  if (definition !== undefined) {
    const { signature, kind } = definition
    return { name, signature, kind, ...documentationOf(definition) }
  }
  const nearest = nearestName(name, [...base.map((one) => one.name), ...definitionNames()])
  const reason = `there is no table, view or macro ${JSON.stringify(name)}`
  const instead = nearest === undefined ? 'list_tables has their names' : `did you mean "${nearest}"?`
  throw new ToolkitError('USAGE', `Cannot describe: ${reason}, ${instead}`)
}

const describe = (lake: string): AgentTool =>
  agentTool({
    name: 'describe',
    title: 'Columns and their meaning',
    description:
      'A table, view or macro: columns with type and meaning, parameters, the rule behind it, an example in SQL.',
    parameters: {
      name: {
        ...{ type: 'string', maxLength: 100 },
        description: 'such as companies, financials_history, latest_figures, find_company',
      },
    },
    fields: { name: textLike(/^[^\0]{1,100}$/, 'a name') },
    answer: async ({ name }) => {
      const root = await readRoot(lake)
      const answer = newAnswer()
      answer.put('snapshot', root.snapshot)
      for (const [key, value] of Object.entries(described(name, baseComments(await computedOfLake(root)))))
        if (Array.isArray(value)) await answer.list(key, jsonRows(value))
        else answer.put(key, value)
      return answer.text()
    },
  })

/** Searches with the names of their parameters alone: a value may be the national number of a person. */
export const shownStatus = ({ id, summary, made, drift, unfinished }: LakeStatus) => {
  const pulls = summary?.pulls.map((pull) => ({ ...pull, search: Object.keys(pull.search) }))
  return { id, ...(summary ?? { snapshot: null }), ...(pulls && { pulls }), ...made, drift, unfinished }
}

const lakeStatus = (lake: string): AgentTool =>
  agentTool({
    name: 'lake_status',
    title: 'State of the lake',
    description:
      'The newest snapshot in numbers: when it was loaded, records and quarantined lines by content, rows by table, the newest pull ' +
      'of each search, unknown names (drift), and runs that are not finished.',
    parameters: {},
    fields: {},
    answer: async () => {
      const answer = newAnswer()
      for (const [key, value] of Object.entries(shownStatus(await readStatus(lake))))
        if (Array.isArray(value)) await answer.list(key, jsonRows(value))
        else answer.put(key, value)
      return answer.text()
    },
  })

export const lakeTools = (lake: string): readonly AgentTool[] => [
  ...[listTables, describe, lakeStatus].map((tool) => tool(lake)),
]
