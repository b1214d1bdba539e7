/**
 * Checks the package as a stranger gets it: `check-package.mjs TARBALL FOLDER`, the folder being an empty project in which the
 * tarball alone is installed. Prints figures; ends with 1 and what is wrong.
 */

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, lstatSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installLine, OPTIONAL_PART_NAMES, OPTIONAL_PARTS } from '../src/core/optional-parts.ts'

const [tarball = '', folder = ''] = process.argv.slice(2)
const root = fileURLToPath(new URL('..', import.meta.url))
const modules = join(folder, 'node_modules')
const problems = []

/** What the package may hold, and nothing else. */
const ALLOWED = [
  /^(package\.json|README\.md|SECURITY\.md|CHANGELOG\.md|DEPENDENCIES\.md)$/,
  /^dist\/(index\.js|index\.d\.ts|cli\/main\.js|check\/check-worker\.js|sbom\.cdx\.json|THIRD-PARTY-LICENSES\.txt)$/,
  /^dist\/(server\/serving-index\/build\/build-process|engine\/temporal\/workflows)\.js$/,
  /^dist\/chunks\/[\w-]+\.js$/,
  /^dist\/analysis\/\w+\.sql$/,
  /^dist\/web\/(index\.html|app\.css|app\.js)$/,
  /^dist\/report\/sheet\.css$/,
  /^data\/sample(-second)?\/(control\.json|(companies|relations)-\d{4}\.jsonl\.br)$/,
  /^docs\/([\w-]+\/)?[\w-]+\.md$/,
  /^docs\/(llms\.txt|reference\/dbt-sources\.yml)$/,
  /^examples\/[\w.-]+\.(toml|yaml|sh|py|service|timer)$/,
]
const MOST_TARBALL_BYTES = 3_000_000
const MOST_BYTES = 95_000_000
const MOST_PACKAGES = 20

const checkFiles = () => {
  const files = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n')
  const paths = files.map((path) => path.replace(/^package\//, ''))
  for (const path of paths)
    if (!ALLOWED.some((form) => form.test(path))) problems.push(`"${path}" is in the package`)
  for (const form of ALLOWED)
    if (!paths.some((path) => form.test(path))) problems.push(`nothing in the package matches ${form}`)
  const { size } = statSync(tarball)
  console.log(`tarball: ${paths.length} files, ${(size / 1e6).toFixed(1)} MB`)
  if (size > MOST_TARBALL_BYTES) problems.push(`the tarball has ${size} bytes`)
}

/** Every file that another one of the build imports is there. */
const checkImports = () => {
  const dist = join(modules, 'firmlake', 'dist')
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.js') || entry.parentPath.endsWith('web')) continue
    const code = readFileSync(join(entry.parentPath, entry.name), 'utf8')
    for (const [, path] of code.matchAll(/(?:from|import\(?)\s*["'](\.[\w./-]+\.js)["']/g))
      if (!existsSync(join(entry.parentPath, path)))
        problems.push(`"${entry.name}" imports "${path}", which is not in the package`)
  }
}

const checkWeight = () => {
  let [bytes, onDisk, packages] = [0, 0, 0]
  for (const entry of readdirSync(modules, { recursive: true, withFileTypes: true })) {
    const { size, blocks } = lstatSync(join(entry.parentPath, entry.name))
    onDisk += blocks * 512
    if (!entry.isDirectory()) bytes += size
    if (entry.name === 'package.json' && /node_modules\/(@[^/]+\/)?[^/]+$/.test(entry.parentPath)) packages++
  }
  const mb = (count) => (count / 1e6).toFixed(1)
  console.log(`installed: ${packages} packages, ${mb(bytes)} MB of files, ${mb(onDisk)} MB on this disk`)
  if (bytes > MOST_BYTES) problems.push(`an installation has ${bytes} bytes, more than ${MOST_BYTES}`)
  if (packages > MOST_PACKAGES) problems.push(`an installation has ${packages} packages`)
}

const firmlake = (args, env = {}) => {
  const main = join(modules, 'firmlake', 'dist', 'cli', 'main.js')
  const options = { cwd: folder, encoding: 'utf8', env: { ...process.env, ...env } }
  return spawnSync(process.execPath, [main, ...args], options)
}

const LINE = '{"BasicDetails":{"InternalId":1,"CountryCode":"SE"}}\n'

/** Files of the package that are loaded before a command's answer: 0.3 ms of CPU each. */
const MOST_LOADED = { version: 4, '--help': 8, status: 20, query: 24, convert: 27 }

const checkStart = () => {
  const list = join(folder, 'modules')
  const preload = join(root, 'test', 'cli', 'preload-modules.ts')
  const env = { NODE_OPTIONS: `--import ${preload}`, MODULES_FILE: list }
  writeFileSync(join(folder, 'first.jsonl'), LINE)
  const rest = {
    convert: ['first.jsonl', '--lake', 'started'],
    status: ['--lake', 'started'],
    query: ['--lake', 'started', 'SELECT 1'],
  }
  for (const command of ['convert', ...Object.keys(MOST_LOADED)]) {
    firmlake([command, ...(rest[command] ?? [])], env)
    const files = readFileSync(list, 'utf8')
      .split('\n')
      .filter((url) => url.includes('/dist/'))
    if (files.length > MOST_LOADED[command])
      problems.push(`${command} loads ${files.length} files, more than ${MOST_LOADED[command]}`)
  }
}

/** A command that needs the part, and what it says where nobody answers. */
const NOBODY = '127.0.0.1:9'
const TRIALS = {
  s3: {
    args: ['status', '--lake', 's3://bucket/lake'],
    env: {
      ...{ AWS_ENDPOINT_URL_S3: `http://${NOBODY}`, AWS_MAX_ATTEMPTS: '1' },
      ...{ AWS_ACCESS_KEY_ID: 'nobody', AWS_SECRET_ACCESS_KEY: 'nobody' },
    },
    says: 'error STORAGE_FAILED: ',
  },
  postgres: {
    args: ['export', '--lake', 'lake', '--to', `postgres://${NOBODY}/firms`],
    says: 'error TARGET_FAILED: ',
  },
  temporal: { args: ['worker', '--temporal', NOBODY], says: 'error ENGINE_UNREACHABLE: ' },
  telemetry: {
    args: ['convert', 'more.jsonl', '--lake', 'lake'],
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://${NOBODY}` },
    says: 'OpenTelemetry could not be sent',
  },
}

/** Each part without its packages, then all of them with. */
const checkParts = () => {
  writeFileSync(join(folder, 'some.jsonl'), LINE)
  writeFileSync(join(folder, 'more.jsonl'), LINE.replace('1', '2'))
  firmlake(['convert', 'some.jsonl', '--lake', 'lake'])
  const tryAll = (expected) => {
    for (const part of OPTIONAL_PART_NAMES) {
      const { args, env } = TRIALS[part]
      const { stderr } = firmlake(args, env)
      if (!stderr.includes(expected(part)))
        problems.push(`${part}: expected ${expected(part)}, was: ${stderr}`)
    }
  }
  tryAll(
    (part) =>
      `Cannot use ${OPTIONAL_PARTS[part].title}: its packages are not installed, "${installLine(part)}"`,
  )
  const names = OPTIONAL_PART_NAMES.flatMap((part) => installLine(part).split(' ').slice(2))
  // npm asks about the install scripts of Temporal's packages, which are not needed.
  const args = ['install', '--silent', '--prefer-offline', '--ignore-scripts', ...names]
  execFileSync('npm', args, { cwd: folder, stdio: 'inherit' })
  tryAll((part) => TRIALS[part].says)
}

/** The tour, which names the command as a package has it. */
const checkDemo = () => {
  const { status, stdout, stderr } = firmlake(['demo', '--lake', 'toured'])
  if (status !== 0 || !stdout.includes('\n$ firmlake serve --lake toured\n'))
    problems.push(`demo ended with ${status}: ${stderr}${stdout.slice(-500)}`)
}

/** The types, by a compiler that reads all of them, in a program without the optional parts. */
const checkTypes = () => {
  writeFileSync(
    join(folder, 'program.mts'),
    `import { convert, ERROR_CODES, postgres, query, serve, ToolkitError, type ErrorCode, type RunReport } from 'firmlake'
const report: RunReport = await convert({ from: ['some.jsonl'], lake: 'lake', sinks: [postgres('postgres://db/firms')] })
const rows = await query({ lake: 'lake', sql: 'SELECT 1 AS one' })
const server = await serve({ lake: 'lake' })
const code: ErrorCode = 'USAGE'
// @ts-expect-error no such option
await convert({ from: ['some.jsonl'], lake: 'lake', nosuch: true })
console.log(report.records, rows.length, server.url, ERROR_CODES[code], new ToolkitError(code, ''))
`,
  )
  const options = {
    ...{ target: 'es2024', lib: ['es2024', 'esnext.disposable'], module: 'nodenext', types: ['node'] },
    ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true },
  }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, files: ['program.mts'] }),
  )
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' })
  if (status !== 0) problems.push(`the types do not compile:\n${stdout.split('\n').slice(0, 20).join('\n')}`)
}

/** The bill of materials names each installed package. */
const checkBill = () => {
  const { components } = JSON.parse(readFileSync(join(modules, 'firmlake', 'dist', 'sbom.cdx.json'), 'utf8'))
  const named = new Set(
    components.map(({ name, version, group }) => `${group ? `${group}/` : ''}${name}@${version}`),
  )
  const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'))
  // Types alone, which the registry may have newer: no code that runs.
  const typesOnly = /@types\/|undici-types/
  for (const [path, { version }] of Object.entries(lock.packages)) {
    const name = path.replace(/^.*node_modules\//, '')
    if (path === '' || name === 'firmlake' || typesOnly.test(path)) continue
    if (!named.has(`${name}@${version}`)) problems.push(`the bill of materials lacks ${name} ${version}`)
  }
}

checkFiles()
checkImports()
checkWeight()
checkBill()
checkTypes()
checkStart()
checkDemo()
checkParts()
for (const problem of problems) console.error(problem)
process.exitCode = problems.length > 0 ? 1 : 0
