/** `pull`: companies or relations of the service into the lake, by cursor. */

import type { Command } from 'commander'
import { LIMITS } from '../../contract/limits.ts'
import type { PullReport } from '../../jobs/pull.ts'
import { askedOf, type ValuesOf } from '../../options/entry.ts'
import { PULL } from '../../options/search.ts'
import { addCommand } from '../add-command.ts'
import { DETACHING, onEngineOr, planOnly } from '../on-engine.ts'
import { readingSearch, requireRecords } from '../options/pull-options.ts'
import { withService } from '../options/service-options.ts'
import { printJson, printLines } from '../output/print.ts'
import { pullJson, pullLines, warnOfPull, watchPull } from '../output/pull-report.ts'
import { reportLines, warnOf } from '../output/run-report.ts'
import { runLoadJob } from '../run-job.ts'

export const addPull = (program: Command): void => {
  addCommand(program, {
    name: 'pull',
    summary: 'load companies or relations from the service into a lake',
    description:
      'Pulls what a search finds, page by page, into a lake, all in one commit. A search with more companies ' +
      'than one cursor chain delivers is cut into windows first (see "firmlake plan"). An interrupted run ' +
      'resumes at its last page when the same command is run again.',
    options: PULL,
    run: runPull,
    examples: [
      [`pull companies --lake ./lake --search '{"CountryCode":["SE"]}' --currency SEK`, 'all of a country'],
      ['pull companies --lake ./lake --search @search.json --since last', 'what changed since the last time'],
      [
        `pull relations --lake ./lake --search '{"CountryCode":["NO"]}' --since 2026-01-01`,
        `the relations that changed this year; pages of ${LIMITS.pageSize.max}`,
      ],
    ],
  })
}

const runPull = async (given: ValuesOf<typeof PULL>, command: Command): Promise<void> => {
  const values = await readingSearch(given)
  const asked = askedOf(PULL, values)
  const { lake, json, content } = values
  if (values.planOnly)
    return withService(values, (from) => planOnly(command, values, { load: 'pull', ...asked, from }))
  const { pull } = await import('../../jobs/pull.ts')
  let found = 0
  await runLoadJob<PullReport>(
    values,
    (job, line) =>
      withService(values, (from) =>
        onEngineOr(
          values,
          line,
          () => pull({ ...asked, ...job, from, onPull: watchPull(line).onEvent }),
          (jobs, on) => jobs.pullOnEngine({ ...asked, ...job, from }, on),
        ),
      ),
    async ({ pull: pulled, ...report }) => {
      found = pulled.entry.received
      if (json) return printJson({ lake, ...report, pull: pullJson(pulled) })
      await printLines([...reportLines(report), '', ...pullLines(pulled)])
      warnOf(report, lake)
      warnOfPull(pulled)
    },
    values.engine && DETACHING,
  )
  requireRecords(found, content, values)
}
