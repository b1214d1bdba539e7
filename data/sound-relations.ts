/** Relations that make sense together, for data in which a check shall find nothing. */

import type { Relation } from '../src/contract/objects.ts'
import type { DraftRelations } from './relations-company.ts'

type Ownership = NonNullable<Relation['Ownerships']>[number]

/** A stake, or a range from 0, of at most that share. */
const capped = (one: Ownership, most: number): Ownership => ({
  ...one,
  ...(one.OwnershipStake !== undefined && { OwnershipStake: Math.min(Number(one.OwnershipStake), most) }),
  ...(one.MinOwnershipStake !== undefined && { MinOwnershipStake: 0, MaxOwnershipStake: most }),
})

/**
 * The stakes of all owners together are at most 100 %, the owner of a company has a lower id than the company, so that
 * ownership has no circles, and children carry no stakes that their own lines contradict.
 */
export const soundRelations = ({ record, writing }: DraftRelations): DraftRelations => {
  const { InternalId: id, Parents = [], Children = [] } = record
  const owners = Parents.filter((one) => one.IsCompany === false || Number(one.InternalId) < id)
  const holdings = owners.reduce((sum, { Ownerships = [] }) => sum + Ownerships.length, 0)
  const parents = owners.map(({ Ownerships, ...one }) => ({
    ...one,
    ...(Ownerships && { Ownerships: Ownerships.map((held) => capped(held, Math.floor(100 / holdings))) }),
  }))
  const children = Children.filter((one) => Number(one.InternalId) > id).map(
    ({ Ownerships: _direct, ...one }) => one,
  )
  return { record: { ...record, Parents: parents, Children: children }, writing }
}
