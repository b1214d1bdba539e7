/**
 * Makes the script of the explorer's page out of `src/web`. The build calls it for `dist/web`; a checkout's server for the first
 * page that is asked for, since it has no build.
 */

import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))

export const bundleScript = async () => {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['src/web/main.ts'],
    bundle: true,
    minify: true,
    platform: 'browser',
    target: 'es2024',
    format: 'esm',
    legalComments: 'eof',
    logLevel: 'warning',
    write: false,
  })
  return outputFiles[0].contents
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(`${root}dist/web`, { recursive: true })
  writeFileSync(`${root}dist/web/app.js`, await bundleScript())
  copyFileSync(`${root}src/web/app.css`, `${root}dist/web/app.css`)
}
