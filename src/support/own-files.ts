/**
 * Where this program's own files are: in a checkout below `src/`, in the package below `dist/`. The build joins modules, so none
 * knows where it is itself.
 */

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Whether the sources run as they are. */
export const IS_CHECKOUT = import.meta.url.endsWith('.ts')

const packageAbove = (folder: string): string =>
  existsSync(join(folder, 'package.json')) ? folder : packageAbove(dirname(folder))

/** The folder of `package.json`. */
export const PACKAGE_FOLDER = packageAbove(import.meta.dirname)

/** A file or folder below `src/` or `dist/`, by its path there. */
export const ownFile = (path: string): string => join(PACKAGE_FOLDER, IS_CHECKOUT ? 'src' : 'dist', path)

/** Code that a thread or a process begins with, by its path there without its ending. */
export const ownCode = (path: string): URL => pathToFileURL(ownFile(`${path}${IS_CHECKOUT ? '.ts' : '.js'}`))
