/** `release` and `discard`: the load that is held back is shown, or given up. */

import type { Command } from 'commander'
import { failedText } from '../../core/checks.ts'
import type { ReleasedLoad } from '../../jobs/release.ts'
import { readHeld } from '../../manifest/snapshots/held.ts'
import type { ValuesOf } from '../../options/entry.ts'
import { DISCARD, RELEASE } from '../../options/held.ts'
import { formatCount, formatInstant } from '../../support/format.ts'
import { addCommand } from '../add-command.ts'
import { interruptible } from '../interrupt.ts'
import { isAsked } from '../options/options.ts'
import { plannedService } from '../options/service-options.ts'
import { printJson, printLines } from '../output/print.ts'
import { watchRun } from '../output/watch-run.ts'
import { loadCheckOfFile, printReport, runJob } from '../run-job.ts'

export const addRelease = (program: Command): void => {
  addCommand(program, {
    name: 'release',
    summary: 'show the load that is held back',
    description:
      'Shows the snapshot that is held back because checks fail in it, in one commit, and updates targets. Its sources are ' +
      'not read again. Where the lake has got other snapshots meanwhile, it is built upon the newest, and what the checks find ' +
      'then is said.',
    options: RELEASE,
    run: runRelease,
    examples: [
      ['diff --lake ./lake --held', 'look at it first'],
      ['release --lake ./lake', 'it is right: show it'],
    ],
  })
}

export const addDiscard = (program: Command): void => {
  addCommand(program, {
    name: 'discard',
    summary: 'give up the load that is held back',
    description:
      'Removes the load that is held back because checks fail in it. Its files are remembered, so that the next load does not ' +
      'bring them again; --again of "convert" and "batches pull" does. The days of a pull are asked for again.',
    options: DISCARD,
    run: runDiscard,
    examples: [['discard --lake ./lake', 'it is wrong: give it up']],
  })
}

/** Says what is held back, and asks. @returns whether to go on */
const agreesTo = async (
  question: string,
  values: { readonly lake: string; readonly yes?: boolean | undefined; readonly json?: boolean | undefined },
): Promise<boolean> => {
  if (!isAsked(values)) return true
  const held = await readHeld(values.lake)
  if (held === null) return true
  await printLines([
    `Snapshot ${held.root.snapshot} is held back since ${formatInstant(held.at)}: ${failedText(held.checks)}`,
  ])
  return (await import('../output/ask.ts')).agrees(question)
}

const movedLines = ({ moved }: ReleasedLoad): readonly string[] => {
  if (moved === undefined) return []
  const { from, to, checks } = moved
  const found = checks.length === 0 ? 'no check fails in it' : `fails in it: ${failedText(checks)}`
  return [`It was held back against snapshot ${from}, and is built upon snapshot ${to}: ${found}.`]
}

const runRelease = async (values: ValuesOf<typeof RELEASE>): Promise<void> => {
  const { json } = values
  if (!(await agreesTo('Show it?', values))) return
  const { release } = await import('../../jobs/release.ts')
  const check = await loadCheckOfFile()
  await runJob<ReleasedLoad>(
    values,
    (given, line) =>
      release({
        ...{ ...given, maxGone: values.maxGone, check, onEvent: watchRun(line) },
        service: (url) => plannedService({ ...values, concurrency: 1 }, url),
      }),
    async (done) => {
      await printReport(done, values)
      if (!json) await printLines(movedLines(done))
    },
    'it is held back still',
  )
}

const runDiscard = async (values: ValuesOf<typeof DISCARD>): Promise<void> => {
  const { lake, json } = values
  if (!(await agreesTo('Give it up?', values))) return
  const { discard } = await import('../../jobs/discard.ts')
  const done = await interruptible(() => discard({ lake }), 'the same command continues')
  if (json) return printJson({ lake, ...done })
  const { snapshot, sources } = done
  await printLines([
    `Snapshot ${snapshot} is given up.`,
    ...(sources.length === 0
      ? []
      : [
          `Not loaded again but by --again: ${sources.slice(0, MOST_SHOWN).join(', ')}${sources.length > MOST_SHOWN ? `, and ${formatCount(sources.length - MOST_SHOWN)} more` : ''}`,
        ]),
  ])
}

const MOST_SHOWN = 12
