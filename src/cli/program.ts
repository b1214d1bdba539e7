/** The command line as a whole: every command with its options. Loads none of what the commands work with. */

import { Command } from 'commander'
import { VERSION } from '../support/tool-version.ts'
import { addBatches } from './commands/batches.ts'
import { addCompact } from './commands/compact.ts'
import { addConvert } from './commands/convert.ts'
import { addDemo } from './commands/demo.ts'
import { addDiff } from './commands/diff.ts'
import { addExport } from './commands/export.ts'
import { addGc } from './commands/gc.ts'
import { addManifest } from './commands/manifest.ts'
import { addParameters } from './commands/parameters.ts'
import { addPlan } from './commands/plan.ts'
import { addPublish } from './commands/publish.ts'
import { addPull } from './commands/pull.ts'
import { addQuarantine } from './commands/quarantine.ts'
import { addQuery } from './commands/query.ts'
import { addRates } from './commands/rates.ts'
import { addRecords } from './commands/records.ts'
import { addResume } from './commands/resume.ts'
import { addServe } from './commands/serve.ts'
import { addStatus } from './commands/status.ts'
import { addSync } from './commands/sync.ts'
import { addVerify } from './commands/verify.ts'
import { EXIT_HELP } from './exit-codes.ts'
import { withExamples } from './options/options.ts'

/** Errors are thrown, not printed; `main.ts` reports them. */
export const newProgram = (): Command => {
  const program = new Command('firmlake')
    .description(
      'Company data from a service or its batch files to a Parquet lake with a manifest; questions to it, and the ' +
        'same interface served from it.',
    )
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .configureOutput({ outputError: () => undefined })
    .exitOverride()
  for (const add of [
    addConvert,
    addPull,
    addSync,
    addPlan,
    addParameters,
    addBatches,
    addResume,
    addQuery,
    addExport,
    addDiff,
    addRecords,
    addQuarantine,
    addDemo,
    addStatus,
    addManifest,
    addVerify,
    addGc,
    addPublish,
    addCompact,
    addServe,
    addRates,
  ])
    add(program)
  withExamples(program, [
    ['demo', 'convert the sample, ask two questions, serve it and pull it back'],
    ['convert batches/ --lake ./lake', 'load a folder of batch files'],
    [`pull companies --lake ./lake --search '{"CountryCode":["SE"]}'`, 'load from the service'],
    ['query --lake ./lake "SELECT count(*) FROM companies"', 'ask the lake'],
  ])
  return program.addHelpText('after', `\n${EXIT_HELP}`)
}
