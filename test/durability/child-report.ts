/** Writes a page in place of an earlier one. Arguments: where, and what. Prints the code of an error. */

import { ToolkitError } from '../../src/core/errors.ts'
import { reportTarget } from '../../src/jobs/report.ts'

const [to = '', page = ''] = process.argv.slice(2)
await reportTarget(to)
  .write(Buffer.from(page))
  .catch((error: unknown) => {
    console.log(error instanceof ToolkitError ? error.code : error)
    process.exitCode = 1
  })
