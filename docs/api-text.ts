/** `docs/reference/api.md`: the names of `src/index.ts`, functions with their signatures, each with the first sentence of its docstring. */

import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { rows } from './markdown.ts'

const INDEX = join(import.meta.dirname, '../src/index.ts')

interface Exported {
  /** As programs import it. */
  readonly name: string
  /** As its file declares it. */
  readonly declared: string
  readonly file: string
}

/** The names that a file exports from others: `export { a, type B as C } from '…'`. */
const exportedBy = (file: string): Exported[] =>
  [...readFileSync(file, 'utf8').matchAll(/export (?:type )?\{([^}]*)\} from '([^']+)'/g)].flatMap(
    ([, names = '', from = '']) =>
      names
        .split(',')
        .map((part) => part.trim().replace(/^type /, ''))
        .filter((part) => part !== '')
        .map((part) => {
          const [declared = '', name = declared] = part.split(' as ')
          return { name, declared, file: join(dirname(file), from) }
        }),
  )

/** The first sentence of a docstring, without its tags. */
const firstSentence = (comment: string): string => {
  const [text = ''] = comment
    .replace(/^[ \t]*\* ?/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .split(/(?:^| )@\w+/)
  return (/^.*?[.?!](?= [A-Z`"(]|$)/.exec(text)?.[0] ?? text).trim()
}

interface Declaration {
  readonly kind: string
  readonly about: string
  /** The parameters and the result of a function. */
  readonly signature?: string
  /** The code of its `@example`. */
  readonly example?: string
}

/** The code behind `@example`, up to the next tag. */
const exampleIn = (comment: string): string | undefined =>
  /^[ \t]*\* @example\n((?:[ \t]*\*(?! @).*\n?)*)/m
    .exec(comment)?.[1]
    ?.replace(/^[ \t]*\* ?/gm, '')
    .trim()

/** Where the bracket that opens at a place is closed. An arrow is none. */
const closingOf = (text: string, from: number): number => {
  let depth = 0
  for (let at = from; at < text.length; at += 1) {
    if ('([{<'.includes(text[at] ?? '')) depth += 1
    else if (')]}'.includes(text[at] ?? '') || (text[at] === '>' && text[at - 1] !== '=')) depth -= 1
    if (depth === 0) return at
  }
  return text.length
}

/** The parts of a list of parameters, without the comma at its end. */
const partsOf = (list: string): string[] => {
  const parts: string[] = []
  let from = 0
  for (let at = 0; at <= list.length; at += 1) {
    if ('([{<'.includes(list[at] ?? ' ')) at = closingOf(list, at)
    else if (list[at] === ',' || at === list.length) {
      parts.push(list.slice(from, at).trim())
      from = at + 1
    }
  }
  return parts.filter((part) => part !== '')
}

/** A parameter as a caller sees it: a pattern is one object, a default makes it optional. */
const parameterIn = (part: string): string => {
  const named = part.startsWith('{') ? `options${part.slice(closingOf(part, 0) + 1)}` : part
  const [, name, type, otherwise] = /^(\w+)(?:: (.*?))?(?: = (.*))?$/.exec(named) ?? []
  if (otherwise === undefined) return named
  return `${name}?: ${type ?? typeof otherwise}`
}

/** Parameters and result, from the text behind a function's name: `(options: QueryOptions): Promise<readonly QueryRow[]>`. */
const signatureIn = (rest: string): string => {
  const text = rest.replace(/^(?: = (?:async )?|: )/, '').replaceAll(/\s+/g, ' ')
  const types = text.startsWith('<') ? text.slice(0, closingOf(text, 0) + 1) : ''
  const end = closingOf(text, types.length)
  const parameters = partsOf(text.slice(types.length + 1, end)).map(parameterIn)
  const [, result] = /^(?:: (.*?) (?:=>|\{)| => (.*?) = )/.exec(text.slice(end + 1))?.filter(Boolean) ?? []
  return `${types}(${parameters.join(', ')})${result ? `: ${result}` : ''}`
}

/** @throws {Error} where the file neither declares the name nor exports it from another */
const declarationOf = ({ declared, file, name }: Exported): Declaration => {
  const text = readFileSync(file, 'utf8')
  const pattern = `(?:/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\s*)?export (?:async |abstract )*(const|function\\*?|class|interface|type) ${declared}\\b(.*)`
  const found = new RegExp(pattern).exec(text)
  if (found !== null) {
    // What begins the file says what the file is for.
    const [, comment = '', kind = '', rest = ''] = found.index === 0 ? ['', '', ...found.slice(2)] : found
    const isCall = kind === 'const' && /^(?: = (?:async )?|: )(?:<|\()/.test(rest)
    const example = exampleIn(comment)
    return {
      kind: isCall || kind.startsWith('function') ? 'function' : kind,
      about: firstSentence(comment),
      ...(example !== undefined && { example }),
      ...((isCall || kind.startsWith('function')) && { signature: signatureIn(behind(text, found, rest)) }),
    }
  }
  const onward = exportedBy(file).find((one) => one.name === declared)
  if (onward === undefined)
    throw new Error(`Cannot describe "${name}": "${file}" has none, expected a declaration`)
  return declarationOf(onward)
}

/** The text behind the name of a declaration. */
const behind = (text: string, found: RegExpExecArray, rest: string): string =>
  text.slice(found.index + found[0].length - rest.length)

const KINDS: Readonly<Record<string, string>> = {
  function: 'Functions',
  class: 'Classes',
  const: 'Values',
  interface: 'Types',
  type: 'Types',
}

const described = (): (Declaration & Pick<Exported, 'name'>)[] =>
  exportedBy(INDEX).map((one) => ({ name: one.name, ...declarationOf(one) }))

/** The functions of the library with their examples. */
export const exportedFunctions = (): readonly Pick<Declaration & Exported, 'name' | 'example'>[] =>
  described().filter(({ kind }) => kind === 'function')

/**
 * @param made says where the page comes from
 * @throws {Error} naming what has no docstring
 */
export const apiText = (made: string): string => {
  const all = described()
  const silent = all.filter(({ about }) => about === '').map(({ name }) => name)
  if (silent.length > 0)
    throw new Error(`Cannot describe ${silent.join(', ')}: no docstring, expected one at the declaration`)
  const byKind = Map.groupBy(all, ({ kind }) => KINDS[kind] ?? kind)
  const section = (title: string): string => {
    const names = (byKind.get(title) ?? []).sort((a, b) => (a.name < b.name ? -1 : 1))
    return `## ${title}\n\n${rows(
      ['name', 'what it is'],
      names.map(({ name, signature = '', about }) => [`\`${name}${signature}\``, about]),
    )}\n`
  }
  const sections = [...new Set(Object.values(KINDS))].filter((title) => byKind.has(title))
  return `# The library

${made}

What programs import from \`firmlake\`; how they are used: [library.md](../library.md).

${sections.map(section).join('\n')}`
}
