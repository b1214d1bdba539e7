/** Tools that say what a lake holds and what its names mean. They read its manifest and the declarations, and no record. */

import { definitionNames, definitionsFor } from '../analysis/definitions.ts'
import { byName, documentationOf } from '../analysis/documentation.ts'
import { ToolkitError } from '../core/errors.ts'
import { countCurrent } from '../jobs/current-rows.ts'
import { type LakeStatus, readStatus } from '../jobs/lake-status.ts'
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
      'of each record and rows counts these; <name>_history has history_rows. rows null: of a lake in a bucket they are not counted.',
    parameters: {},
    fields: {},
    answer: async () => {
      const root = await readRoot(lake)
      const counted = await countCurrent(lake, root)
      const answer = newAnswer()
      answer.put('snapshot', root.snapshot)
      const listed = TABLES.map(({ name, row, key }) => {
        const { rows = null, versions = 0 } = counted.find(({ table }) => table === name) ?? {}
        return { name, row, key, rows, history_rows: versions }
      })
      const views = definitionsFor()
        .toSorted((a, b) => byName(a.name, b.name))
        .map((one) => [one.signature, one.kind, documentationOf(one).about])
      await answer.list('views', jsonRows(views))
      await answer.list('tables', jsonRows(listed))
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
        description: 'such as figures, companies, financials_history, find_company',
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
export const shownStatus = ({ id, summary, current, made, drift, unfinished }: LakeStatus) => {
  const pulls = summary?.pulls.map((pull) => ({ ...pull, search: Object.keys(pull.search) }))
  const contents = summary?.contents.map(({ records, ...one }) => ({
    ...one,
    current: current[one.content] ?? null,
    versions: records,
  }))
  return {
    id,
    ...(summary ?? { snapshot: null }),
    ...(contents && { contents }),
    ...(pulls && { pulls }),
    ...made,
    drift,
    unfinished,
  }
}

const lakeStatus = (lake: string): AgentTool =>
  agentTool({
    name: 'lake_status',
    title: 'State of the lake',
    description:
      'The newest snapshot in numbers: when it was loaded, current records, their versions and quarantined lines by content, rows in all versions by table, the newest pull ' +
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
