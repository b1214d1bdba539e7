/**
 * What the library offers, as its users' compiler sees it: etc/firmlake.api.md. Fails where the code says otherwise; `--update`
 * writes it. With `--types` it writes the package's types instead, `dist/index.d.ts`: all of them in one file.
 */

import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import extractor from '@microsoft/api-extractor'

const { Extractor, ExtractorConfig } = extractor
const root = fileURLToPath(new URL('..', import.meta.url))
const update = process.argv.includes('--update')
const types = process.argv.includes('--types')

const REPORT = 'firmlake.api.md'
const made = join(root, '.tmp', `types-${process.pid}`)
const silent = { default: { logLevel: 'none' } }

const configuration = {
  projectFolder: root,
  mainEntryPointFilePath: join(made, 'index.d.ts'),
  compiler: {
    overrideTsconfig: {
      compilerOptions: {
        ...{ target: 'es2024', lib: ['es2024', 'esnext.disposable'], module: 'nodenext', types: ['node'] },
        ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: true, noEmit: true },
        allowImportingTsExtensions: true,
      },
      files: [join(made, 'index.d.ts')],
    },
  },
  apiReport: {
    ...{ enabled: !types, reportFileName: REPORT, reportFolder: join(root, 'etc'), reportTempFolder: made },
  },
  docModel: { enabled: false },
  dtsRollup: { enabled: types, untrimmedFilePath: join(root, 'dist', 'index.d.ts') },
  tsdocMetadata: { enabled: false },
  newlineKind: 'lf',
  messages: {
    compilerMessageReporting: silent,
    extractorMessageReporting: silent,
    tsdocMessageReporting: silent,
  },
}

mkdirSync(made, { recursive: true })
try {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const emit = ['-p', 'tsconfig.build.json', '--emitDeclarationOnly', '--outDir', made]
  execFileSync(process.execPath, [tsc, ...emit], { cwd: root, stdio: 'inherit' })
  const config = ExtractorConfig.prepare({
    configObject: configuration,
    configObjectFullPath: undefined,
    packageJsonFullPath: join(root, 'package.json'),
  })
  const quiet = (message) => {
    message.handled = message.logLevel !== 'error'
  }
  const { apiReportChanged } = Extractor.invoke(config, { localBuild: update, messageCallback: quiet })
  if (apiReportChanged && !update) {
    console.error(`etc/${REPORT} is not what the code offers: "npm run docs" writes it, a reviewer reads it`)
    process.exitCode = 1
  }
} finally {
  rmSync(made, { recursive: true, force: true })
}
