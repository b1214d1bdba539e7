/** A search as the manifest keeps it, where every snapshot would repeat it for good: without persons' numbers. */

import { createHash } from 'node:crypto'
import type { SearchParameters } from '../../contract/requests.ts'

/** Parameters whose values name a person. */
const PERSONAL: readonly string[] = ['nationalidentificationnumber']
const HASHED = 'sha256:'

/** The search with a hash in place of each personal value; a search so recorded stays as it is. */
export const recordedSearch = (search: SearchParameters): SearchParameters =>
  Object.fromEntries(
    Object.entries(search).map(([name, values]) => [
      name,
      PERSONAL.includes(name.toLowerCase()) ? values.map(hashOf) : values,
    ]),
  )

const hashOf = (value: string | number): string => {
  const text = String(value)
  if (text.startsWith(HASHED)) return text
  return `${HASHED}${createHash('sha256').update(text).digest('hex').slice(0, 16)}`
}
