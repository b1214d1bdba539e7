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

/** An import of another file of the build, as esbuild writes it. */
const IMPORT = /import\s*(?:\{([^}]*)\}\s*from\s*)?"(\.[^"]+)";?/g

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
  /** A name that a file exports, as its part exports it: several of its files may export the same. */
  const nameIn = (path: string, name: string): string => `from_${places.get(path)?.at}_${name}`
  /** The text of a file, which imports out of parts what their files had. */
  const textOf = (path: string): string => {
    const bare = new Set<string>()
    const text = texts.get(path)
    if (text === undefined) throw new Error(`Cannot join files: "${path}" is none of the build`)
    return text.replaceAll(IMPORT, (whole, names: string | undefined, from: string) => {
      const to = join(dirname(path), from)
      const { part } = places.get(to) ?? {}
      if (part === undefined || part === places.get(path)?.part) return whole
      const place = `"./${relative(dirname(path), part)}"`.replace('"./../', '"../')
      if (names !== undefined) {
        const pairs = names.split(',').map((one) => one.trim().split(/\s+as\s+/))
        return `import{${pairs.map(([name = '', own = name]) => `${nameIn(to, name)} as ${own}`)}}from${place};`
      }
      const isFirst = !bare.has(part)
      bare.add(part)
      return isFirst ? `import${place};` : ''
    })
  }
  const listOf = (paths: readonly string[]): string =>
    paths
      .map(
        (path) =>
          `export{${outputs[path]?.exports.map((name) => `${name} as ${nameIn(path, name)}`)}}from'/${path}'`,
      )
      .join('\n')

  const plugin: Plugin = {
    name: 'join',
    setup: ({ onResolve, onLoad }) => {
      onResolve({ filter: /./ }, ({ path, importer, kind }) => {
        if (kind === 'entry-point') return { path: join(path), namespace: 'built' }
        const to = path.startsWith('/') ? path.slice(1) : join(dirname(importer), path)
        const isOwn = kind === 'import-statement' && /^[./]/.test(path) && places.has(to)
        return isOwn ? { path: to, namespace: 'built' } : { path, external: true }
      })
      onLoad({ filter: /./, namespace: 'built' }, ({ path }) => {
        const paths = members.get(path)
        return { contents: paths === undefined ? textOf(path) : listOf(paths) }
      })
    },
  }
  const { outputFiles } = await build({
    ...settings,
    entryPoints: [...members.keys()].map((path) => ({ in: path, out: path.slice(0, -extname(path).length) })),
    outdir: '.',
    write: false,
    plugins: [plugin],
  })
  return new Map([
    ...[...texts.keys()].filter((path) => !places.has(path)).map((path) => [path, textOf(path)] as const),
    ...outputFiles.map(({ path, text }) => [relative(settings.absWorkingDir, path), text] as const),
  ])
}
