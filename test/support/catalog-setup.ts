/**
 * Runs before each file of tests. Writing `lake.ducklake` is a third of what the commits of the tests take: files that do
 * not name it leave it out. Kills, damage, campaigns, pages and examples keep it, as users do.
 */

import { readFileSync } from 'node:fs'
import { expect } from 'vitest'

const KEEPS = /\/test\/(campaign|docs|durability|examples|pipelines)\//

const file = expect.getState().testPath ?? ''
if (KEEPS.test(file) || /ducklake/i.test(readFileSync(file, 'utf8'))) delete process.env.FIRMLAKE_DUCKLAKE
else process.env.FIRMLAKE_DUCKLAKE = 'false'
