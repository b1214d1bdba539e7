/** Tools that ask the explorer's named questions: what they see of protected persons is what the explorer shows. */

import { checkLoads, companiesResult, loadFactsOf } from '../checks/check-loads.ts'
import { ToolkitError } from '../core/errors.ts'
import { readRoot } from '../manifest/snapshots/snapshots.ts'
import type { Expectations } from '../options/interfaces.ts'
import type { Caller } from '../server/access/caller.ts'
import type { AskExplorer, ExplorerReply } from '../server/explorer/explorer.ts'
import { MOST_LEVELS } from '../server/explorer/ownership-question.ts'
import { rowObjects } from '../server/explorer/question.ts'
import { qualityRules } from '../server/explorer/report-questions.ts'
import { anyText, count, optional } from '../support/json-form.ts'
import { type AgentTool, agentTool, type ParameterSchema, upTo, wholeUpTo } from './agent-tool.ts'
import { jsonRows, newAnswer } from './bounded-answer.ts'

export interface NamedTools {
  readonly lake: string
  readonly ask: AskExplorer
  readonly expectations: Expectations
}

type Answer = Extract<ExplorerReply, { kind: 'answer' }>
type Row = ReturnType<typeof rowObjects>[number]
type AskNamed = (question: string, parameters: object, signal: AbortSignal) => Promise<Answer>

/** Every record, and protected persons masked. */
const CALLER: Caller = { name: 'agent', rights: 'everything' }

/** DuckDB's words may quote a value that is masked. */
const withoutWords = (error: unknown): unknown =>
  error instanceof ToolkitError && error.code === 'QUERY_FAILED' && !error.message.startsWith('Cannot ')
    ? new ToolkitError('QUERY_FAILED', 'Cannot answer: DuckDB could not run the statement', {}, error)
    : error

const askNamed =
  (ask: AskExplorer): AskNamed =>
  async (question, parameters, signal) => {
    try {
      const reply = await ask(question, parameters, CALLER, signal)
      if (reply.kind === 'answer') return reply
      const why = reply.kind === 'refused' ? reply.messages.join(' ').replaceAll('the body.', '') : reply.kind
      throw new ToolkitError('USAGE', `Cannot answer: ${why.replace(/\.$/, '')}`)
    } catch (error) {
      throw withoutWords(error)
    }
  }

const ID: ParameterSchema = {
  ...{ type: 'integer', minimum: 0 },
  description: 'internal_id of the company; find_company finds it',
}
const MOST_YEARS = 40
const USUAL_YEARS = 5
const MOST_RESTATEMENTS = 200
const USUAL_LEVELS = 3

const findCompany = (ask: AskNamed): AgentTool =>
  agentTool({
    name: 'find_company',
    title: 'Find a company',
    description:
      'Finds at most 20 companies by words of the name (accents and letter case do not matter), by the beginning of the ' +
      'organisation number, or by the internal_id. The best matches come first.',
    parameters: { text: { type: 'string', maxLength: 200, description: 'words of the name, or a number' } },
    fields: { text: anyText },
    answer: async (parameters, signal) => {
      const { snapshot, columns, rows } = await ask('search', parameters, signal)
      const answer = newAnswer()
      answer.put('snapshot', snapshot)
      answer.put('columns', columns)
      await answer.list('companies', jsonRows(rows))
      return answer.text()
    },
  })

/** Details and figures of one snapshot: asked again where a newer one came between. */
const detailsAndFigures = async (
  ask: AskNamed,
  id: number,
  signal: AbortSignal,
): Promise<readonly [details: Answer, figures: Answer]> => {
  const details = await ask('company', { id }, signal)
  const figures = await ask('figures', { id }, signal)
  return details.snapshot === figures.snapshot ? [details, figures] : detailsAndFigures(ask, id, signal)
}

/** Figures as a row for each line item with its years, the newest first. */
const byYears = (figures: readonly Row[], most: number) => {
  const all = [...new Set(figures.map((row) => Number(row.fiscal_year)))].sort((a, b) => b - a)
  const shown = all.slice(0, most)
  const items = Map.groupBy(figures, ({ consolidation, category, line_item, unit, currency }) =>
    JSON.stringify([consolidation, category, line_item, unit, currency]),
  )
  const rows = [...items].flatMap(([item, reported]) => {
    const values = new Map(reported.map((row) => [Number(row.fiscal_year), row.value]))
    const cells = shown.map((year) => values.get(year) ?? null)
    return cells.every((value) => value === null) ? [] : [[...JSON.parse(item), ...cells]]
  })
  const years = shown.map((year) => {
    const own = figures.find((row) => Number(row.fiscal_year) === year && row.is_preferred === true)
    return [String(year), { preferred: own?.consolidation ?? null, months: own?.months ?? null }]
  })
  return {
    years: Object.fromEntries(years),
    columns: ['consolidation', 'category', 'line_item', 'unit', 'currency', ...shown.map(String)],
    rows,
    left: all.length - shown.length,
  }
}

const company = (ask: AskNamed): AgentTool =>
  agentTool({
    name: 'company',
    title: 'A company with its figures',
    description:
      'Details of one company and its reported figures and headcounts, a row for each line item with a column for each year. ' +
      'Amounts are whole units of the currency: the scale is applied. null: not reported. Compare figures of one consolidation alone: ' +
      '"years" says which counts in each year (preferred), and how many months the year has, if that is known.',
    parameters: {
      id: ID,
      years: upTo(MOST_YEARS, USUAL_YEARS, 'how many of the newest fiscal years'),
    },
    fields: { id: count, years: optional(wholeUpTo(MOST_YEARS)) },
    answer: async ({ id, years: most = USUAL_YEARS }, signal) => {
      const [details, reported] = await detailsAndFigures(ask, id, signal)
      const figures = byYears(rowObjects(reported), most)
      const answer = newAnswer()
      answer.put('snapshot', details.snapshot)
      const [found] = rowObjects(details)
      answer.put('company', found ?? null)
      if (found === undefined)
        answer.put('note', `The lake has no company ${id}; find_company searches by name and number`)
      answer.put('columns', figures.columns)
      await answer.list('figures', jsonRows(figures.rows))
      answer.put('years', figures.years)
      if (figures.left > 0) answer.cut(`${figures.left} earlier fiscal years are left out, give more years`)
      return answer.text()
    },
  })

const ownership = (ask: AskNamed): AgentTool =>
  agentTool({
    name: 'ownership',
    title: 'Owners and holdings',
    description:
      'Owners of a company (direction "up") and what it owns ("down"), level by level, the nearest first. Stakes are percent; ' +
      'is_stated false means that the stake is not known. Protected persons have no name and no identifier.',
    parameters: { id: ID, levels: upTo(MOST_LEVELS, USUAL_LEVELS, 'how many levels in each direction') },
    fields: { id: count, levels: optional(wholeUpTo(MOST_LEVELS)) },
    answer: async ({ id, levels = USUAL_LEVELS }, signal) => {
      const { snapshot, columns, rows, isCut } = await ask('ownership', { id }, signal)
      const level = columns.indexOf('level')
      const near = rows.filter((row) => Number(row[level]) <= levels)
      const answer = newAnswer()
      answer.put('snapshot', snapshot)
      answer.put('columns', columns)
      await answer.list('holdings', jsonRows(near))
      if (near.length < rows.length)
        answer.cut(`${rows.length - near.length} holdings of further levels are left out, give more levels`)
      else if (isCut) answer.cut('there are further levels or holdings')
      return answer.text()
    },
  })

const RESTATED = ['consolidation', 'category', 'line_item', 'fiscal_year', 'value', 'currency', 'earlier']

const restatements = (ask: AskNamed): AgentTool =>
  agentTool({
    name: 'restatements',
    title: 'Restated figures',
    description:
      'Figures that a later load changed. With an id those of one company, each with its earlier values and the snapshot that ' +
      'replaced them; without an id the 100 largest of the lake, by percent. A compaction removes earlier values.',
    parameters: { id: ID },
    fields: { id: optional(count) },
    answer: async ({ id }, signal) => {
      const answer = newAnswer()
      if (id === undefined) {
        const largest = await ask('section', { id: 'largest-restatements' }, signal)
        answer.put('snapshot', largest.snapshot)
        answer.put('columns', largest.columns)
        await answer.list('restatements', jsonRows(largest.rows))
        return answer.text()
      }
      const figures = await ask('figures', { id }, signal)
      const restated = rowObjects(figures).filter(({ earlier }) => earlier !== null)
      answer.put('snapshot', figures.snapshot)
      answer.put('columns', RESTATED)
      const rows = jsonRows(restated.map((row) => RESTATED.map((name) => row[name])))
      await answer.list('restatements', rows, MOST_RESTATEMENTS)
      return answer.text()
    },
  })

/** How many findings each rule that was checked has. */
const countsOf = (findings: readonly Row[], rules: readonly string[]) =>
  rules.map((rule) => {
    const count = (severity: string): number =>
      Number(findings.find((row) => row.rule === rule && row.severity === severity)?.findings ?? 0)
    return { rule, errors: count('error'), notes: count('note') }
  })

const FINDING = ['severity', 'rule', 'internal_id', 'fiscal_year', 'item', 'value', 'expected']

const checks = (ask: AskNamed, { lake, expectations }: NamedTools): AgentTool =>
  agentTool({
    name: 'checks',
    title: 'What is probably wrong',
    description:
      'The lake against what is expected of it: expectations of its loads where the server was given some, counts of findings by ' +
      'rule on the data, and the first 40 of each rule and severity. Errors are probably wrong; a note is what sound data breaks ' +
      'now and then. All rules read every figure: name one rule if it takes too long.',
    parameters: {
      rule: { type: 'string', enum: qualityRules(), description: 'only this rule (default: all)' },
    },
    fields: { rule: optional(anyText) },
    answer: async (parameters, signal) => {
      const reply = await ask('findings', parameters, signal)
      const found = rowObjects(reply)
      const facts = await loadFactsOf(lake, await readRoot(lake, reply.snapshot))
      const { minCompanies } = expectations
      const counted = minCompanies === undefined ? [] : rowObjects(await ask('overview', {}, signal))
      const companies = counted.map((row) => companiesResult(Number(row.companies), minCompanies ?? 0))
      const answer = newAnswer()
      answer.put('snapshot', reply.snapshot)
      answer.put('expectations', [...checkLoads(facts, expectations, new Date()), ...companies])
      const { rule } = parameters
      answer.put('rules', countsOf(found, rule === undefined ? qualityRules() : [rule]))
      answer.put('columns', FINDING)
      await answer.list('findings', jsonRows(found.map((row) => FINDING.map((name) => row[name]))))
      return answer.text()
    },
  })

export const namedTools = (named: NamedTools): readonly AgentTool[] => {
  const ask = askNamed(named.ask)
  return [findCompany(ask), company(ask), ownership(ask), restatements(ask), checks(ask, named)]
}
