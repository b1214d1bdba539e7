/** What a record has beyond the contract, and the `extra` column made of it. */

import type { Content } from '../../contract/objects.ts'
import { POINTER_LIKE } from '../../lake/tables/columns.ts'

/** Members of a record that the contract does not know. */
export interface UnknownMember {
  /** JSON pointer of the row object they stand in; '' is the record itself. */
  readonly row: string
  /** Way from the row object to the member, its own name last. */
  readonly path: readonly string[]
  readonly raw: string
}

/** Row of a record's own members. Of relations those that look like a pointer to a row have one to themselves. */
export const ownRow = (content: Content, name: string): string =>
  content === 'relations' && name.startsWith('/') ? POINTER_LIKE : ''

/** The `extra` column: unknown members where they stood; those of rows below a JSON pointer. */
export const extraOf = (unknown: readonly UnknownMember[]): string => {
  const rows = new Map<string, Branch>()
  for (const { row, path, raw } of unknown) {
    let branch = rows.get(row) ?? new Map()
    rows.set(row, branch)
    for (const name of path.slice(0, -1)) {
      const next: Branch | string = branch.get(name) ?? new Map()
      if (typeof next === 'string') break
      branch.set(name, next)
      branch = next
    }
    branch.set(path.at(-1) ?? '', raw)
  }
  const record = rows.get('') ?? new Map()
  rows.delete('')
  for (const [row, branch] of rows) record.set(row, branch)
  return branchText(record)
}
type Branch = Map<string, Branch | string>
const branchText = (branch: Branch): string =>
  `{${[...branch].map(([name, value]) => `${JSON.stringify(name)}:${typeof value === 'string' ? value : branchText(value)}`).join(',')}}`
