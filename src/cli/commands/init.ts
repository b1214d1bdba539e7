/** `init`: a first `firmlake.toml` in the working folder, tried at once. */

import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { FILE_NAME } from '../../config/find-file.ts'
import { LIMITS } from '../../contract/limits.ts'
import type { SearchParameters } from '../../contract/requests.ts'
import { ToolkitError } from '../../core/errors.ts'
import { EXIT } from '../../core/exit-codes.ts'
import { LAKE } from '../../options/common.ts'
import { type OptionTable, option, type ValuesOf, withDefault } from '../../options/entry.ts'
import { lakeAddress, plainText } from '../../options/value-types.ts'
import { addCommand } from '../add-command.ts'
import { printLines } from '../output/print.ts'

const INIT = {
  service: option(plainText('<url>'), 'address of the service that nights pull from'),
  files: option(plainText('<dir>'), 'folder of batch files that nights load'),
  lake: withDefault(lakeAddress, LAKE.about, 'lake', { flag: LAKE.flag }),
} as const satisfies OptionTable

/** Longest wait for the count: the file is of use without it. */
const COUNT_WAIT_MS = 5000

type Values = ValuesOf<typeof INIT>

export const addInit = (program: Command): void => {
  addCommand(program, {
    name: 'init',
    summary: 'write a first firmlake.toml, and try it',
    description:
      'Writes firmlake.toml into the working folder: the lake, and what a night loads into it, each key with a ' +
      'comment. Then tries it as "doctor --online" does, and says the next command. Replaces no file. Ends with 1 ' +
      'where the trial finds something missing; the file stands then.',
    options: INIT,
    run: runInit,
    examples: [
      ['init --files batches/', 'a lake of batch files'],
      ['init --service https://service.example.com', 'a lake of what the service has'],
    ],
  })
}

/** @throws {ToolkitError} USAGE, ADDRESS_REFUSED */
const checkFlags = async ({ service, files }: Values): Promise<void> => {
  if (service === undefined && files === undefined)
    throw new ToolkitError(
      'USAGE',
      'Cannot write settings that load nothing: expected --service URL, --files DIR, or both',
    )
  if (files !== undefined && (await stat(files).catch(() => undefined)) === undefined)
    throw new ToolkitError('USAGE', `Cannot find --files "${files}": expected a folder of batch files`)
}

/** How many companies a search has; `undefined` where there is no token yet, or the service does not answer. */
const countOf = async (url: string, search: SearchParameters): Promise<number | undefined> => {
  if (!process.env.FIRMLAKE_TOKEN) return undefined
  const { withService } = await import('../options/service-options.ts')
  try {
    const counted = await withService({ url, maxWaitMs: COUNT_WAIT_MS, concurrency: 1 }, (service) =>
      service.totalCount('companies', search, {}),
    )
    return counted.totalCount
  } catch (error) {
    if (error instanceof ToolkitError) return undefined
    throw error
  }
}

const runInit = async (flags: Values): Promise<void> => {
  await checkFlags(flags)
  if (flags.service !== undefined) {
    const { parseAddress } = await import('../../source/service/address.ts')
    parseAddress(flags.service)
  }
  const { FIRST_SEARCH, firstSettings } = await import('../../config/first-settings.ts')
  const { readSettings } = await import('../../config/read-settings.ts')
  const companies = flags.service === undefined ? undefined : await countOf(flags.service, FIRST_SEARCH)
  const text = firstSettings({
    ...flags,
    counted: companies === undefined ? undefined : { companies, pageSize: LIMITS.pageSize.max },
  })
  const path = resolve(FILE_NAME)
  // A value that no command would take, such as an address with a password, is refused before anything is written.
  const { settings } = readSettings(text, path, process.cwd())
  const { createIfAbsent } = await import('../../support/durable-files.ts')
  if (!(await createIfAbsent(path, text)))
    throw new ToolkitError(
      'USAGE',
      `Cannot write "${path}": it exists already; change it, or remove it first`,
    )
  await printLines([
    `Wrote ${path}`,
    '',
    ...text
      .trimEnd()
      .split('\n')
      .map((line) => `  ${line}`.trimEnd()),
    '',
  ])

  const { loadConfig } = await import('../config/loaded-config.ts')
  await loadConfig(['doctor'])
  const { tryConfigured } = await import('./doctor.ts')
  const { well } = await tryConfigured(settings)
  if (!well) process.exitCode = EXIT.failed
  await printLines(['', ...nextLines(well, settings.service !== undefined && !process.env.FIRMLAKE_TOKEN)])
}

const nextLines = (well: boolean, lacksToken: boolean): readonly string[] => {
  if (lacksToken)
    return [
      'Next, put the token where only you can read it, and try again:',
      '  (umask 077; echo "FIRMLAKE_TOKEN=…" >> .env)',
      '  firmlake doctor --online',
    ]
  if (!well) return ['Next, mend what is missing, and try again:', '  firmlake doctor --online']
  return ['Next, load the lake, now and each night:', '  firmlake nightly']
}
