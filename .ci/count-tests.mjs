/** Prints "passed failed skipped" of a JSON report of vitest. A file that could not be run counts as one failed. */

import { readFileSync } from 'node:fs'

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults)
const broken = report.testResults.filter(
  ({ status, assertionResults }) =>
    status === 'failed' && !assertionResults.some((one) => one.status === 'failed'),
)
const count = (...states) => tests.filter(({ status }) => states.includes(status)).length
const failed = count('failed') + broken.length
console.log(count('passed'), failed, tests.length - count('passed', 'failed'))
