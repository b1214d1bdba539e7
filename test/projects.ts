/**
 * Sorts the files of tests into the projects of vitest by what they use, so that nobody keeps a list: a file that
 * starts to use a process or a server moves by itself.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { importsIn } from './support/imports.ts'

/** A file belongs to the first whose pattern fits something that it uses, or else to `unit`. */
const PATTERNS = {
  // Tools of others: a browser, readers in Python and Spark, S3 and REST servers, PostgreSQL, Temporal.
  peers: /^test\/support\/(browser|readers|s3-server|rest-catalog|postgres-server|temporal-server)\.ts$/,
  // Kills, full disks, damage, and the short forms of campaigns.
  durability: /^test\/(durability|campaign)\/|^test\/support\/(small-disk|kills)\.ts$/,
  // Every fault on every page, every example of the docs, whole stories, once more what other files prove in parts.
  long: /\.long\.test\.ts$/,
  // Processes and servers of our own, the command line, and whole runs of many steps.
  integration:
    /\/(batch-bench|sample-lake|open-server|serve-lake|web-files)\.ts$|^fastify$|^(node:)?(child_process|cluster|dgram|http|http2|https|net|tls|worker_threads)$/,
} as const

export const PROJECTS = [...(Object.keys(PATTERNS) as (keyof typeof PATTERNS)[]), 'unit'] as const
export type Project = (typeof PROJECTS)[number]

/** Code that only tests run: imports are followed through it, not through what it tests. */
const FOLLOWED = /^(test|data|bench)\/.*\.ts$/

/** @param read gives the text of a file below the project */
export const projectOf = (file: string, read: (path: string) => string): Project => {
  const used = new Set([file])
  // A set is walked with what is added to it meanwhile.
  for (const one of used) if (FOLLOWED.test(one)) for (const { to } of importsIn(one, read(one))) used.add(to)
  const fits = (pattern: RegExp): boolean => [...used].some((one) => pattern.test(one))
  return PROJECTS.find((name) => name !== 'unit' && fits(PATTERNS[name])) ?? 'unit'
}

/** The files of tests of each project, as paths below `root`. */
export const testFiles = (root: string): Readonly<Record<Project, readonly string[]>> => {
  const files: Record<Project, string[]> = { peers: [], durability: [], long: [], integration: [], unit: [] }
  const strings = new Map<string, string>()
  const read = (path: string): string => {
    const text = strings.get(path) ?? readFileSync(join(root, path), 'utf8')
    strings.set(path, text)
    return text
  }
  const names = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  for (const name of names.filter((one) => one.endsWith('.test.ts')).sort()) {
    const file = `test/${name.replaceAll('\\', '/')}`
    files[projectOf(file, read)].push(file)
  }
  return files
}
