/**
 * Brotli as Node decodes it, and the one module that may. Releases of Node before those of `engines` in package.json write
 * beyond their memory at bytes that somebody made for it (CVE-2026-111497): there it is refused before a byte is decoded.
 */

import { promisify } from 'node:util'
import { brotliDecompress, brotliDecompressSync, createBrotliDecompress } from 'node:zlib'
import { ENGINES, isInRange } from '../support/own-package.ts'
import { ToolkitError } from './errors.ts'
import { kindOf, type SourceKindName } from './source-kinds.ts'

/** The origin of compressed bytes: a file that a person named, or the service. */
export type BrotliOrigin = 'file' | 'service'

/** A batch file that the run downloads is the service's; a file that a person saved is theirs, whoever made it. */
export const brotliOriginOf = (source: { readonly kind: SourceKindName }): BrotliOrigin =>
  kindOf(source).announcement === undefined ? 'file' : 'service'

/** The Node that runs, and its variables. */
interface Runtime {
  readonly node: string
  readonly env: Readonly<Record<string, string | undefined>>
}

const thisRuntime = (): Runtime => ({ node: process.versions.node, env: process.env })

/** The releases that decode Brotli safely, for messages. */
export const FIXED_NODE = `Node ${ENGINES.match(/[\d.]+/g)?.join(', ')} or a later release of these`

/** Whether Brotli may be decoded. `FIRMLAKE_UNSAFE_NODE=1` is for files of one's own and lets no bytes of the service in. */
export const mayDecodeBrotli = (origin: BrotliOrigin, { node, env } = thisRuntime()): boolean =>
  isInRange(node, ENGINES) || (origin === 'file' && env.FIRMLAKE_UNSAFE_NODE === '1')

const DECODERS = {
  /** A transform that decodes the first Brotli stream of what it is given. */
  stream: createBrotliDecompress,
  whole: promisify(brotliDecompress),
  sync: brotliDecompressSync,
} as const

/**
 * The decoders of Brotli.
 *
 * @param action `Cannot …`, for the message
 * @throws {ToolkitError} NODE_VULNERABLE
 */
export const brotliDecoders = (
  action: string,
  origin: BrotliOrigin,
  runtime = thisRuntime(),
): typeof DECODERS => {
  if (mayDecodeBrotli(origin, runtime)) return DECODERS
  const own = origin === 'file' ? '; FIRMLAKE_UNSAFE_NODE=1 allows it for files of your own' : ''
  throw new ToolkitError(
    'NODE_VULNERABLE',
    `${action}: Brotli data can overwrite the memory of Node ${runtime.node} (CVE-2026-111497), expected ${FIXED_NODE}${own}`,
    { node: runtime.node },
  )
}
