/** What an agent is answered about a year's lake, through the tools of `mcp`. */

import { openAgents } from '../mcp/agent-client.ts'
import type { ExpectedLake } from './year-expected.ts'
import type { Company } from './year-world.ts'

/** Companies that are asked for by name. */
const ASKED = 5

const some = (companies: readonly Company[]): readonly Company[] =>
  companies.filter((_, at) => at % Math.ceil(companies.length / ASKED) === 0)

/** @returns what the answers have that is not so */
export const compareAgents = async (lake: string, expected: ExpectedLake): Promise<readonly string[]> => {
  const wrong: string[] = []
  const agent = await openAgents(lake)
  const expect = (what: string, found: unknown, wanted: unknown): void => {
    const [one, other] = [found, wanted].map((value) => JSON.stringify(value))
    if (one !== other) wrong.push(`an agent is answered ${one} for ${what}, expected ${other}`)
  }
  try {
    const shown = expected.shown
    const sql = `SELECT count(*)::INTEGER, sum(value)::BIGINT FROM financials WHERE line_item = 'NetSales' AND fiscal_year = 2025`
    const { rows, snapshot } = await agent.data('query', { sql })
    expect('the newest snapshot', snapshot, expected.snapshot)
    expect('the sales of all', rows, [[shown.length, shown.reduce((sum, { sales }) => sum + sales, 0)]])
    for (const { id, name, sales, staff } of some(shown)) {
      const found = await agent.data('find_company', { text: name })
      const companies = found.companies as readonly (readonly unknown[])[]
      expect(`the company named "${name}"`, companies[0]?.[found.columns.indexOf('internal_id')], id)
      const { columns, figures } = await agent.data('company', { id })
      const newest = new Map(
        (figures as readonly (readonly unknown[])[]).map((row) => [row[2], row[columns.indexOf('2025')]]),
      )
      expect(`figures of company ${id}`, [newest.get('NetSales'), newest.get('Employees')], [sales, staff])
    }
    for (const id of [...expected.forgotten].slice(0, ASKED)) {
      expect(`the forgotten id ${id}`, (await agent.data('company', { id })).company, null)
      expect(`owners of ${id}`, (await agent.data('ownership', { id })).holdings, [])
    }
    const { rules } = await agent.data('checks')
    const failed = (rules as readonly { readonly rule: string; readonly errors: number }[]).filter(
      ({ errors }) => errors > 0,
    )
    expect('rules with errors', failed, [])
    return wrong
  } finally {
    await agent.close()
  }
}
