/** Options that choose among the batch files of the service. */

import { Option } from 'commander'
import { ToolkitError } from '../../core/errors.ts'
import type { BatchSelection } from '../../jobs/batch-files/choose-batch-files.ts'

export interface BatchFilter {
  readonly content?: 'companies' | 'relations'
  readonly country?: readonly string[]
}

const countryCodes = (text: string): readonly string[] => {
  const codes = text.split(',').map((code) => code.trim().toUpperCase())
  if (codes.every((code) => /^[A-Z]{2}$/.test(code))) return codes
  throw new ToolkitError('USAGE', `Cannot read --country "${text}": expected codes such as SE,NO`)
}

export const batchFilterOptions = (): Option[] => [
  new Option('--content <content>', 'files of one content only').choices(['companies', 'relations']),
  new Option('--country <codes>', 'files of these countries only, such as SE,NO').argParser(countryCodes),
]

/** What a person chose: ids, or all files that a filter lets through. */
export const selectionOf = (ids: readonly string[], { content, country }: BatchFilter): BatchSelection =>
  ids.length > 0
    ? { kind: 'ids', ids }
    : { kind: 'all', ...(content && { content }), ...(country && { countries: country }) }
