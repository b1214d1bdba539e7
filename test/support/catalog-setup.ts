/**
 * Runs before each file of tests. Writing `lake.ducklake` and `lake.duckdb` is more than half of what the commits of the tests
 * take: files that do not name one leave it out. Kills, damage, campaigns, pages and examples keep both, as users do.
 */

import { readFileSync } from 'node:fs'
import { expect } from 'vitest'

const KEEPS = /\/test\/(campaign|docs|durability|examples|pipelines)\//
const NAMED = {
  FIRMLAKE_DUCKLAKE: /ducklake/i,
  FIRMLAKE_DUCKDB: /lake\.duckdb|lake-file|FIRMLAKE_DUCKDB/i,
} as const

const file = expect.getState().testPath ?? ''
const text = readFileSync(file, 'utf8')
for (const [variable, names] of Object.entries(NAMED))
  if (KEEPS.test(file) || names.test(text)) delete process.env[variable]
  else process.env[variable] = 'false'
