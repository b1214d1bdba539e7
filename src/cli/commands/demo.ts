/**
 * `demo`: a tour of commands as one would type them. The committed sample and its second delivery become a lake, which shows what
 * changed, answers a question, becomes a report, and is served.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, relative } from 'node:path'
import type { Command } from 'commander'
import { ToolkitError } from '../../core/errors.ts'
import { LAKE } from '../../options/common.ts'
import { type OptionTable, option, type ValuesOf, withDefault } from '../../options/entry.ts'
import { lakeAddress, trueOrFalse } from '../../options/value-types.ts'
import { IS_CHECKOUT, PACKAGE_FOLDER } from '../../support/own-package.ts'
import { addCommand } from '../add-command.ts'
import { interruptible } from '../interrupt.ts'
import { note, printLines } from '../output/print.ts'

/** Never the lake that the variable names, which may hold real data. */
const DEMO = {
  lake: withDefault(lakeAddress, `folder of the lake; ${LAKE.variable} is ignored here`, './lake', {
    flag: LAKE.flag,
  }),
  open: option(trueOrFalse, 'then serve the lake, and open its explorer signed in, until Ctrl-C'),
} as const satisfies OptionTable

/** Makes the program of one command line. */
type NewProgram = (args: readonly string[]) => Promise<Command>

export const addDemo = (program: Command, newProgram: NewProgram): void => {
  addCommand(program, {
    name: 'demo',
    summary: 'load the sample, see what changed, ask it a question, make its report',
    description:
      'Loads the sample of invented companies and its second delivery into a lake, shows what the second delivery ' +
      'changed, asks a question and writes a report, each by the command that one would type. May be run again.',
    options: DEMO,
    run: (values) => runDemo(values, newProgram),
    examples: [
      ['demo', 'into ./lake'],
      ['demo --open', 'and look at it in a browser'],
    ],
  })
}

/** Figures of different currencies cannot be ranked, so it keeps to one. */
const QUESTION = `SELECT company_name, country_code AS country, fiscal_year, old_value, new_value, round(percent, 1) AS percent
FROM restatements
WHERE line_item = 'NetSales' AND new_currency = 'USD'
ORDER BY new_value DESC
LIMIT 5`

const DELIVERIES = ['data/sample', 'data/sample-second']

/** The commands of the tour, each with what it is for. */
const stepsOf = (lake: string): readonly (readonly [title: string, args: readonly string[]])[] => {
  const of = ['--lake', lake]
  const [first = '', second = ''] = DELIVERIES.map((name) => relative('', join(PACKAGE_FOLDER, name)))
  return [
    ['Load a delivery', ['convert', first, ...of]],
    ['Load the next one', ['convert', second, ...of]],
    ['What did it change?', ['diff', '--only', 'restatements', '--limit', '5', ...of]],
    ['Which sales did it restate?', ['query', QUESTION, ...of]],
    ['A page to open and to mail', ['report', '--to', `${lake}-report.html`, ...of]],
  ]
}

/** A command line as one types it. */
const typed = (args: readonly string[]): string => {
  const program = IS_CHECKOUT ? 'npm run -s firmlake --' : 'firmlake'
  const words = args.map((word) =>
    /^[\w./:-]+$/.test(word) ? word : `"${word.replaceAll(/["$`\\]/g, '\\$&')}"`,
  )
  return `$ ${program} ${words.join(' ')}`
}

const runDemo = async ({ lake, open }: ValuesOf<typeof DEMO>, newProgram: NewProgram): Promise<void> => {
  if (open && !process.stdout.isTTY)
    throw new ToolkitError('USAGE', 'Cannot open the explorer: standard output is no terminal, expected one')
  for (const [title, args] of stepsOf(lake)) {
    await printLines(['', `== ${title}`, typed(args), ''])
    await (await newProgram(args)).parseAsync(args, { from: 'user' })
  }
  await printLines(['', '== Serve it', typed(['serve', '--lake', lake])])
  if (open) await interruptible((signal) => openExplorer(lake, signal), 'the server ends')
}

/** The program that opens an address in a browser, by the system. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Serves the lake on a free port with a fresh token until the signal. */
const openExplorer = async (lake: string, signal: AbortSignal): Promise<void> => {
  const { serve } = await import('../../jobs/serve.ts')
  const { indexProgress } = await import('../serving.ts')
  const { clear, ...progress } = indexProgress()
  const server = await serve({ lake, port: 0, signal, ...progress }).finally(clear)
  try {
    // Behind the mark the server never sees it, and the page takes it out of the address.
    const address = `${server.url}/#token=${server.token}`
    const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open']
    const browser = spawn(program, [...args, address], { stdio: 'ignore', detached: true })
    browser.on('error', () => note(`No browser could be started: open ${address}`))
    browser.unref()
    note(`Serving the explorer at ${server.url}; Ctrl-C ends it`)
    if (!signal.aborted) await once(signal, 'abort')
  } finally {
    await server.close()
  }
}
