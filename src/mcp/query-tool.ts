/** The tool `query`: one statement that reads. It sees what the owner of the lake sees on the command line. */

import { jsonText } from '../lake/duckdb/json-text.ts'
import type { QueryResult } from '../lake/query/lake-query.ts'
import type { LakeTurns } from '../server/explorer/lake-turns.ts'
import { optional, textLike } from '../support/json-form.ts'
import { type AgentTool, agentTool, upTo, wholeUpTo } from './agent-tool.ts'
import { newAnswer, seenJson } from './bounded-answer.ts'

const MOST_ROWS = 1000
const USUAL_ROWS = 100
const MOST_SQL_CHARACTERS = 20_000

/** Each row as a JSON list, read as far as it is asked for. */
async function* rowStrings({ columns, rows }: QueryResult): AsyncGenerator<string> {
  for await (const chunk of rows)
    for (const row of chunk)
      yield seenJson(`[${columns.map(({ shape }, at) => jsonText(row[at], shape)).join(',')}]`)
}

/** The questions of a process are those of one agent. */
const AGENT = 'agent'

/** @param hasNotes whether answers have notes on sums that add what does not add up */
export const queryTool = (turns: LakeTurns, hasNotes: boolean): AgentTool =>
  agentTool({
    name: 'query',
    title: 'Query in SQL',
    description:
      "Runs one SELECT of DuckDB's SQL over the lake, read-only: the tables, views and macros of list_tables. Functions that write, " +
      'read other files or change settings are refused. Aggregate in SQL rather than reading many rows. Sum, count and compare ' +
      "over figures_in('EUR'), which has one figure a company, year and line item in one currency: financials has several currencies, and " +
      'both consolidations of many companies.',
    parameters: {
      sql: { type: 'string', maxLength: MOST_SQL_CHARACTERS, description: 'one statement that reads' },
      limit: upTo(MOST_ROWS, USUAL_ROWS, 'most rows of the answer'),
    },
    fields: {
      sql: textLike(
        new RegExp(`^[\\s\\S]{1,${MOST_SQL_CHARACTERS}}$`),
        `SQL of at most ${MOST_SQL_CHARACTERS} characters`,
      ),
      limit: optional(wholeUpTo(MOST_ROWS)),
    },
    answer: ({ sql, limit = USUAL_ROWS }, signal) =>
      turns.take(AGENT, signal, async ({ lake, snapshot }) => {
        const started = performance.now()
        const result = await lake.run(sql)
        const answer = newAnswer()
        answer.put('snapshot', snapshot)
        answer.put(
          'columns',
          result.columns.map(({ name }) => name),
        )
        await answer.list('rows', rowStrings(result), limit, `; limit may be up to ${MOST_ROWS}`)
        const notes = hasNotes ? await lake.notes(sql, performance.now() - started) : []
        if (notes.length > 0) answer.put('notes', notes)
        return answer.text()
      }),
  })
