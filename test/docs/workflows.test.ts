import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { PROJECT, readPage } from '../support/page.ts'

const FOLDER = '.github/workflows'

interface Job {
  readonly uses?: string
  readonly needs?: string
  readonly permissions?: Readonly<Record<string, string>>
  readonly steps?: readonly { readonly uses?: string; readonly run?: string }[]
}
interface Workflow {
  readonly permissions: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, Job>>
}

const read = (name: string): Workflow => parse(readPage(`${FOLDER}/${name}`))
const names = readdirSync(join(PROJECT, FOLDER))
const runsOf = ({ steps = [] }: Job): string[] => steps.flatMap(({ run }) => run ?? [])

test.each(names)('%s pins every action by its commit, and may only read by default', (name) => {
  const { permissions, jobs } = read(name)
  expect(permissions).toEqual({ contents: 'read' })
  const used = Object.values(jobs).flatMap(({ uses, steps = [] }) => [uses, ...steps.map((one) => one.uses)])
  const actions = used.filter((one) => one !== undefined)
  expect(actions.length).toBeGreaterThan(0)
  expect(actions.filter((one) => !/^\.\/|@[0-9a-f]{40}$/.test(one))).toEqual([])
})

test('a change is checked by .ci/run', () => {
  expect(runsOf(read('ci.yml').jobs.check ?? {})).toEqual(['.ci/run'])
})

test('a release is packed after all checks, and published with provenance by the one job that may sign', () => {
  const { check, pack, publish, ...others } = read('release.yml').jobs
  expect(others).toEqual({})
  expect(check).toEqual({ uses: './.github/workflows/ci.yml' })
  expect(pack).toMatchObject({ needs: 'check', permissions: { contents: 'read' } })
  expect(pack?.permissions).not.toHaveProperty('id-token')
  expect(runsOf(pack ?? {})).toContain('npm pack')
  expect(publish).toMatchObject({ needs: 'pack', permissions: { contents: 'read', 'id-token': 'write' } })
  // It runs no code of the repository or of a package: neither is there.
  expect(publish?.steps?.flatMap(({ uses }) => uses?.split('@')[0] ?? [])).toEqual([
    'actions/download-artifact',
  ])
  expect(runsOf(publish ?? {})).toEqual([
    expect.stringMatching(/sha256sum --check$/),
    'npm publish --provenance --access public --ignore-scripts ./firmlake-*.tgz',
  ])
  expect(readPage(`${FOLDER}/release.yml`)).not.toContain('secrets.')
})
