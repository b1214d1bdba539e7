/** What files of code import and export, read from their text: for the tests of directions and for the sorting of tests. */

import { builtinModules } from 'node:module'
import { posix } from 'node:path'

export interface Import {
  readonly from: string
  /** Path below the project, or the name of a package or of a part of Node. */
  readonly to: string
  readonly kind: 'file' | 'node' | 'package'
}

const COMMENTS = /^\s*(?:\/\*[\s\S]*?\*\/|\/\/.*$)/gm
const FORMS = [
  /^\s*(?:import|export)\b[^;'"`]*?\bfrom\s*['"]([^'"]+)['"]/gm,
  /^\s*import\s*['"]([^'"]+)['"]/gm,
  /\b(?:import|require|resolve)\(\s*['"]([^'"]+)['"]/g,
  /\bnew\s+URL\(\s*['"](\.[^'"]+\.[cm]?[jt]sx?)['"]/g,
]

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')

const importOf = (from: string, specifier: string): Import => {
  if (specifier.startsWith('.')) return { from, to: posix.join(posix.dirname(from), specifier), kind: 'file' }
  const isNode = specifier.startsWith('node:') || builtinModules.includes(specifier)
  return isNode ? { from, to: specifier, kind: 'node' } : { from, to: packageOf(specifier), kind: 'package' }
}

/** Every import of one file, those of types included. @param from its path below the project */
export const importsIn = (from: string, text: string): Import[] => {
  const code = text.replaceAll(COMMENTS, '')
  return FORMS.flatMap((form) => [...code.matchAll(form)].map((match) => importOf(from, match[1] ?? '')))
}

const EXPORT =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|class|interface|type|enum|function\*?) ([A-Za-z_$][\w$]*)/gm

/** Names that a file declares and exports; those that it passes on from another file are not among them. */
export const exportsIn = (text: string): Set<string> =>
  new Set([...text.replaceAll(COMMENTS, '').matchAll(EXPORT)].map(([, name = '']) => name))
