/** Local files and standard input as sources of a pipeline. */

import { isAbsolute, relative, resolve, sep } from 'node:path'
import type { Source } from '../core/source.ts'
import { sha256Of } from '../support/hash.ts'
import { assertUnchanged, fingerprintFile, identityOf } from './fingerprint-file.ts'
import { findLocalSources, openSourceFile, openStdin } from './local-files.ts'

/**
 * Sources for what a person names: files, folders, patterns, `-` for standard input. Names are kept relative
 * to `cwd` where they stand below it.
 *
 * @throws {ToolkitError} SOURCE_NOT_FOUND, SOURCE_UNREADABLE
 */
export const localSources = async (
  inputs: readonly string[],
  cwd: string = process.cwd(),
): Promise<Source[]> => {
  const named = inputs.map((input) => (input === '-' ? input : resolve(cwd, input)))
  const { sources, ownFiles } = await findLocalSources(named)
  const found = sources.map((source): Source => {
    if (source.kind === 'stdin')
      return { kind: 'stdin', name: 'stdin', open: (signal) => openStdin({ signal }) }
    const below = named.some((input) => source.path.startsWith(input + sep))
    return {
      ...fileSource(source, cwd),
      ...(below && { found: true }),
      ...(source.isOwn && {
        notice: 'it lies in a lake, or where a lake delivers to; it is loaded since it was named',
      }),
    }
  })
  return ownFiles === 0 ? found : [...found, ownFilesSource(ownFiles)]
}

const NO_BYTES = { bytes: 0, sha256: sha256Of('') }

/** Stands for the files that were found and left out. */
const ownFilesSource = (count: number): Source => ({
  kind: 'file',
  name: count === 1 ? '1 file' : `${count} files`,
  sizeBytes: 0,
  leftOut: 'in a lake, or where a lake delivers to; name a file itself to load it',
  fingerprint: async () => NO_BYTES,
  open: async function* () {},
})

type LocalFile = Extract<Awaited<ReturnType<typeof findLocalSources>>['sources'][number], { kind: 'file' }>

const fileSource = ({ path, bytes }: LocalFile, cwd: string): Source => {
  const below = relative(cwd, path)
  const name = below.startsWith('..') || isAbsolute(below) ? path : below
  // A pipe has no length and cannot be read twice.
  return bytes === undefined
    ? { kind: 'stdin', name, open: (signal) => openSourceFile(path, { signal }) }
    : regularFile(path, name, bytes)
}

const regularFile = (path: string, name: string, sizeBytes: number): Source => {
  let identity: string | undefined
  return {
    kind: 'file',
    name,
    sizeBytes,
    fingerprint: async (signal) => {
      identity = await identityOf(path)
      return fingerprintFile(path, { signal })
    },
    open: (signal) => readUnchanged(path, name, sizeBytes, identity, signal),
  }
}

/** Stands outside of the source: of each generator that is made, V8 keeps 250 bytes as long as its function. */
async function* readUnchanged(
  path: string,
  name: string,
  sizeBytes: number,
  identity: string | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer, void> {
  const before = identity ?? (await identityOf(path))
  yield* openSourceFile(path, { signal, sizeBytes })
  assertUnchanged(name, before, await identityOf(path))
}
