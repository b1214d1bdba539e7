/**
 * Joins files of a build that are loaded together: at each start a file costs 0.3 ms of CPU, nearly whatever is in it. What imports
 * an outside package stays apart from what does not, so that nothing loads one which it did not load before.
 */

import { isBuiltin } from 'node:module'
import { dirname, extname, join, relative } from 'node:path'
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild'

type Outputs = Metafile['outputs']

/** What a file loads before it runs, itself included. */
interface Loaded {
  readonly files: ReadonlySet<string>
  readonly packages: ReadonlySet<string>
}

const loadedIn = (outputs: Outputs): ((path: string) => Loaded) => {
  const known = new Map<string, Loaded>()
  const loadedBy = (path: string): Loaded => {
    const before = known.get(path)
    if (before !== undefined) return before
    const imports = outputs[path]?.imports.filter(({ kind }) => kind !== 'dynamic-import') ?? []
    const packages = imports.filter((one) => one.external && !isBuiltin(one.path)).map((one) => one.path)
    const files = imports.filter(({ external }) => !external).map((one) => loadedBy(one.path))
    const loaded = {
      files: new Set([path, ...files.flatMap((one) => [...one.files])]),
      packages: new Set([...packages, ...files.flatMap((one) => [...one.packages])]),
    }
    known.set(path, loaded)
    return loaded
  }
  return loadedBy
}

/** The paths of the files that become one. Such a file imports from those alone that are loaded wherever it is. */
const partsOf = (outputs: Outputs, together: readonly (readonly string[])[]): readonly string[][] => {
  const loadedBy = loadedIn(outputs)
  const begun = new Map(Object.entries(outputs).map(([path, { entryPoint }]) => [entryPoint, path]))
  const fileOf = (source: string): string => {
    const path = begun.get(source)
    if (path !== undefined) return path
    throw new Error(`Cannot join files: none of the build begins with "${source}"`)
  }
  const sets = together.map(
    (sources) => new Set(sources.flatMap((source) => [...loadedBy(fileOf(source)).files])),
  )
  const parts = new Map<string, string[]>()
  for (const [path, { entryPoint }] of Object.entries(outputs)) {
    const memberOf = sets.map((files) => Number(files.has(path))).join('')
    if (entryPoint !== undefined || !memberOf.includes('1')) continue
    const key = [memberOf, ...[...loadedBy(path).packages].sort()].join(' ')
    parts.set(key, [...(parts.get(key) ?? []), path])
  }
  return [...parts.values()].filter(({ length }) => length > 1)
}

/** Before the path of a file that is asked for by itself: esbuild looks on the disk for other names. */
const [BEGIN, BEGINS] = ['built:', /^built:/]

export interface Built {
  /** Of the metafile of a build with `splitting`. */
  readonly outputs: Outputs
  /** The texts of its files, by path. */
  readonly texts: ReadonlyMap<string, string>
}

/**
 * @param together sources that begin files which are loaded together, in sets
 * @param settings of the build
 * @returns the text of each file that is left, by path
 */
export const joinChunks = async (
  { outputs, texts }: Built,
  together: readonly (readonly string[])[],
  settings: BuildOptions & { readonly absWorkingDir: string },
): Promise<ReadonlyMap<string, string>> => {
  const members = new Map(
    partsOf(outputs, together).map((paths, at) => [
      join(dirname(paths[0] ?? ''), `part-${at + 1}.js`),
      paths,
    ]),
  )
  const places = new Map(
    [...members].flatMap(([part, paths]) => paths.map((path, at) => [path, { part, at }] as const)),
  )
  /** Each name that a file exports, and that of it in its part: several files may export the same. */
  const namesOf = (path: string): readonly (readonly [string, string])[] =>
    (outputs[path]?.exports ?? []).map((name) => [name, `from_${places.get(path)?.at}_${name}`])
  const allOf = (path: string): string =>
    `export { ${namesOf(path).map((names) => names.join(' as '))} } from '/${path}'`
  const textOf = (path: string): string => {
    const text = members.get(path)?.map(allOf).join('\n') ?? texts.get(path)
    if (text === undefined) throw new Error(`Cannot join files: "${path}" is none of the build`)
    return text
  }
  /** Gives importers in a folder the names of a file, out of its part. */
  const standIn = (path: string, folder: string): string =>
    `export { ${namesOf(path).map(([name, own]) => `${own} as ${name}`)} } from './${relative(folder, places.get(path)?.part ?? '')}'`

  const plugin: Plugin = {
    name: 'join',
    setup: ({ onResolve, onLoad }) => {
      onResolve({ filter: /./, namespace: 'built' }, ({ path, importer }) => {
        const own = members.has(importer) ? importer : places.get(importer)?.part
        const to = path.startsWith('.') ? join(dirname(importer), path) : path.slice(1)
        const part = /^[./]/.test(path) ? places.get(to)?.part : undefined
        if (part === undefined) return { path, external: true }
        if (part === own) return { path: to, namespace: 'built' }
        return { path: to, namespace: 'stand-in', suffix: `?${dirname(importer)}` }
      })
      onResolve({ filter: /./, namespace: 'stand-in' }, ({ path }) => ({ path, external: true }))
      onResolve({ filter: BEGINS }, ({ path }) => ({ path: path.slice(BEGIN.length), namespace: 'built' }))
      onLoad({ filter: /./, namespace: 'built' }, ({ path }) => ({ contents: textOf(path) }))
      onLoad({ filter: /./, namespace: 'stand-in' }, ({ path, suffix }) => ({
        contents: standIn(path, suffix.slice(1)),
      }))
    },
  }
  const left = [...Object.keys(outputs).filter((path) => !places.has(path)), ...members.keys()]
  const { outputFiles = [] } = await build({
    ...settings,
    entryPoints: left.map((path) => ({ in: `${BEGIN}${path}`, out: path.slice(0, -extname(path).length) })),
    outdir: '.',
    write: false,
    plugins: [plugin],
  })
  return new Map(outputFiles.map(({ path, text }) => [relative(settings.absWorkingDir, path), text]))
}
