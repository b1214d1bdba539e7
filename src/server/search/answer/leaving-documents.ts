/** Documents of an index as a caller may see them: nothing else reads them, so that each goes through the rule. */

import { setImmediate } from 'node:timers/promises'
import type { Content } from '../../../contract/objects.ts'
import type { Areas } from '../../access/caller.ts'
import {
  hasEveryArea,
  hasPersonAccess,
  leavingRecord,
  NOTHING_TOLD,
  namesNobody,
  protectedStrings,
} from '../../persons/leaving-record.ts'
import { mayMention, type PersonStrings } from '../../persons/mask-mentions.ts'
import type { ProtectedInLake } from '../../persons/person-tables.ts'
import {
  type DocumentKind,
  type DocumentPlace,
  placeColumns,
  placeIn,
} from '../../serving-index/index-form.ts'
import type { IndexQueryOptions, ServingIndex } from '../../serving-index/session-pool.ts'
import { inNumbers, newBinder } from '../shared/bound-values.ts'

/** A document that is to leave. */
export interface LeavingDocument {
  readonly id: bigint
  readonly place: DocumentPlace
  /** The caller's, in the record's country. */
  readonly areas: Areas
  /** Column `is_plain` of its row. */
  readonly isPlain: boolean
}

interface LeavingOptions extends IndexQueryOptions {
  /** Makes of a stored document what an answer has of it, before anything is masked. @default it stays as it is */
  readonly shape?: (document: Buffer, at: number) => readonly Buffer[]
}

const CONTENT_OF: Readonly<Record<DocumentKind, Content>> = {
  companies: 'companies',
  minified: 'companies',
  relations: 'relations',
}

/** Whether a document may leave as it is. */
const isOpen = (
  document: Buffer,
  kind: DocumentKind,
  { id, areas, isPlain }: LeavingDocument,
  { persons, told }: { readonly persons: ProtectedInLake; readonly told: PersonStrings },
): boolean => {
  if (kind === 'relations') return hasEveryArea(areas) && namesNobody(document, isPlain, persons)
  const text = String(id)
  if (persons.companies.has(text) || mayMention(document, told)) return false
  // A plain company names persons in none of its fields, and fields beyond the contract are for whoever has every area.
  if (kind === 'minified' || isPlain) return true
  return hasEveryArea(areas) && namesNobody(document, isPlain, persons)
}

/** Texts of the persons whom the relations of companies protect, by the companies' ids. */
const toldOf = async (
  index: ServingIndex,
  page: readonly LeavingDocument[],
  options: IndexQueryOptions,
): Promise<ReadonlyMap<string, PersonStrings>> => {
  const { persons } = index
  const ids = page.filter(({ id, areas }) => persons.named.has(String(id)) && !hasPersonAccess(areas))
  if (ids.length === 0) return new Map()
  const binder = newBinder()
  const among = inNumbers(
    'r.internal_id',
    ids.map(({ id }) => id),
    binder,
  )
  const rows = await index.query(
    (session) =>
      session.rows(
        `SELECT r.internal_id::VARCHAR AS id, ${placeColumns('r')} FROM serving.relation AS r WHERE ${among}`,
        binder.values,
      ),
    options,
  )
  const records = await index.documents(
    'relations',
    rows.map((row) => placeIn(row)),
  )
  return new Map(
    records.map((record, at) => [String(rows[at]?.id), protectedStrings(record, 'relations', persons)]),
  )
}

/** Other requests have their turn between so many documents: to rewrite one takes a tenth of a millisecond. */
const DOCUMENTS_A_TURN = 50

/** The documents in their order, each in pieces. */
export const leavingDocuments = async (
  index: ServingIndex,
  kind: DocumentKind,
  page: readonly LeavingDocument[],
  { shape = (document) => [document], ...options }: LeavingOptions,
): Promise<readonly (readonly Buffer[])[]> => {
  const { persons } = index
  const content = CONTENT_OF[kind]
  const documents = await index.documents(
    kind,
    page.map(({ place }) => place),
  )
  const told = content === 'companies' ? await toldOf(index, page, options) : new Map<string, PersonStrings>()
  const left: (readonly Buffer[])[] = []
  for (const [at, one] of page.entries()) {
    const document = documents[at]
    if (document === undefined) throw new RangeError('Cannot build a page: a document is missing')
    const pieces = shape(document, at)
    const strings = told.get(String(one.id)) ?? NOTHING_TOLD
    left.push(
      isOpen(document, kind, one, { persons, told: strings })
        ? pieces
        : [leavingRecord(Buffer.concat(pieces), content, one.areas, persons, strings)],
    )
    if (left.length % DOCUMENTS_A_TURN === 0) await setImmediate()
  }
  return left
}
