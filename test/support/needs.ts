/** What a test needs of the machine: where it is missing the test is skipped and says so, in CI it fails. */

import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished, type TestContext } from 'vitest'

const isCi = Boolean(process.env.CI) && process.env.CI !== 'false'

/** Skips the running test where something is missing. @throws in CI, where nothing may be missing */
export const needs = (context: TestContext, what: string, missing: string | undefined): void => {
  if (missing === undefined) return
  const text = `"${context.task.name}" needs ${what}: ${missing}`
  if (isCi) throw new Error(`${text}; CI must have it`)
  console.warn(`skipped: ${text}`)
  context.skip(text)
}

/** Runs a tool of the machine to its end. */
export const runTool = (tool: string, ...args: readonly string[]) =>
  spawnSync(tool, args, { encoding: 'utf8' })

/** A key and a certificate signed with it, as PEM files. Skips the test where there is nothing to make them. */
export const selfSigned = async (
  context: TestContext,
  names: readonly string[],
): Promise<{ readonly key: string; readonly certificate: string }> => {
  const folder = await mkdtemp(join(tmpdir(), 'firmlake-certificate-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const kind = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', `/CN=${names[0]}`]
  const called = ['-addext', `subjectAltName=${names.map((name) => `DNS:${name}`).join()}`]
  const made = runTool('openssl', 'req', ...kind, ...called, '-keyout', key, '-out', certificate)
  const missing = made.status === 0 ? undefined : (made.error?.message ?? made.stderr.trim())
  needs(context, '"openssl", to make a certificate', missing)
  return { key, certificate }
}
