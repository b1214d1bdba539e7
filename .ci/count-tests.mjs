/** Prints "passed failed skipped" of JSON reports of vitest, of those that there are. A file that could not be run counts as one failed. */

import { existsSync, readFileSync } from 'node:fs'

const results = process.argv
  .slice(2)
  .filter(existsSync)
  .flatMap((path) => JSON.parse(readFileSync(path, 'utf8')).testResults)
const tests = results.flatMap(({ assertionResults }) => assertionResults)
const broken = results.filter(
  ({ status, assertionResults }) =>
    status === 'failed' && !assertionResults.some((one) => one.status === 'failed'),
)
const count = (...states) => tests.filter(({ status }) => states.includes(status)).length
const failed = count('failed') + broken.length
console.log(count('passed'), failed, tests.length - count('passed', 'failed'))
