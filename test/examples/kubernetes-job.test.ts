/** The manifest of `examples/`: against the published schema of its kind, and its command in a shell. */

import { spawnSync } from 'node:child_process'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { jobProblems } from './job-schema.ts'

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

interface Job {
  readonly spec: {
    readonly completions: number
    readonly podFailurePolicy: { readonly rules: readonly unknown[] }
    readonly template: {
      readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] }
    }
  }
}

const manifest = async (): Promise<Job> => parse(await readFile(at('examples/kubernetes-job.yaml'), 'utf8'))

test('the manifest of Kubernetes is a Job as its schema has it', async () => {
  const job = await manifest()
  expect(await jobProblems(job)).toEqual([])
  const misspelt = { ...job, spec: { ...job.spec, podFailurePolicies: [], completions: '4' } }
  expect(await jobProblems(misspelt)).toEqual(
    expect.arrayContaining([
      expect.stringContaining('additional'),
      expect.stringContaining('/spec/completions'),
    ]),
  )
})

test('the Job gives up a shard that fails with 2, 3 or 4, and takes 6 for done', async () => {
  const { spec } = await manifest()
  expect(spec.podFailurePolicy.rules[0]).toEqual({
    action: 'FailIndex',
    onExitCodes: { containerName: 'work', operator: 'In', values: [2, 3, 4] },
  })
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'firmlake'), '#!/bin/sh\necho "$@"\nexit "$CODE"\n')
  await chmod(join(folder, 'firmlake'), 0o755)
  const [container] = spec.template.spec.containers
  for (const [code, expected] of [
    ['0', 0],
    ['6', 0],
    ['4', 4],
    ['75', 75],
  ] as const) {
    const env = { PATH: `${folder}:${process.env.PATH}`, CODE: code, RUN: 'r1', LAKE: 's3://b/l' }
    const ran = spawnSync('sh', ['-c', ...(container?.args ?? [])], {
      env: { ...env, JOB_COMPLETION_INDEX: '3' },
      encoding: 'utf8',
    })
    expect([ran.status, ran.stdout]).toEqual([
      expected,
      `run work r1 --lake s3://b/l --shard 3/${spec.completions}\n`,
    ])
  }
})
