/** Detects companies or relations by the members of the first records, else by the source's name. */

import { COMPANY, CONTENT, type Content, RELATIONS_COMPANY } from '../contract/objects.ts'
import type { Block } from '../core/lines.ts'
import { JSON_BYTES } from '../support/json-bytes.ts'

const { LINE_FEED } = JSON_BYTES

const LINES_LOOKED_AT = 100

/** The content of a source from its first block; `undefined` where neither records nor name show it. */
export const detectContent = (block: Block | undefined, name: string): Content | undefined => {
  let from = 0
  for (let line = 0; block !== undefined && line < LINES_LOOKED_AT && from < block.bytes.length; line++) {
    const end = block.bytes.indexOf(LINE_FEED, from)
    const content = contentOf(block.bytes.toString('utf8', from, end < 0 ? undefined : end))
    if (content !== undefined) return content
    from = end < 0 ? block.bytes.length : end + 1
  }
  const named = Object.keys(CONTENT).filter((content) => name.toLowerCase().includes(content))
  return named.length === 1 ? (named[0] as Content) : undefined
}

/** The part of a source that matters to its content. */
interface NamedSource {
  readonly name: string
  readonly content?: Content | undefined
  readonly found?: boolean | undefined
}

/**
 * The content that a source is read as: the one that was given, else what is detected. A .json file that was only found in a folder
 * has to show it in any case: beside batch files stand lists and settings of other programs.
 */
export const contentToRead = (source: NamedSource, block: Block): Content | undefined => {
  const isAnyJson = source.found === true && /\.json(\.\w+)?$/i.test(source.name)
  return (isAnyJson ? undefined : source.content) ?? detectContent(block, source.name)
}

const contentOf = (line: string): Content | undefined => {
  let record: unknown
  try {
    record = JSON.parse(line)
  } catch {
    return undefined
  }
  if (typeof record !== 'object' || record === null) return undefined
  const names = Object.keys(record)
  const company = names.filter((name) => Object.hasOwn(COMPANY.fields, name)).length
  const relations = names.filter((name) => Object.hasOwn(RELATIONS_COMPANY.fields, name)).length
  if (company === relations) return undefined
  return company > relations ? 'companies' : 'relations'
}
