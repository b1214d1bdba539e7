/**
 * The answers of the listing operations: search parameters and batch files. The interface shows neither shape for
 * companies and batch files; these are the open points' readings.
 */

import { DICTIONARIES, type DictionaryName } from './dictionaries.ts'
import type { Content } from './objects.ts'
import { FILTER_CLASSES, type FilterClass, RELATIONS_PARAMETERS } from './requests.ts'

export type Datatype = 'number' | 'string' | 'date'

/** A search parameter of the company search. */
export interface CompanyParameter {
  readonly name: string
  readonly filterClass: FilterClass
  readonly datatype: Datatype
  readonly about: string
  readonly sortable: boolean
  /** The dictionary whose values it takes, where it has one. */
  readonly codes?: DictionaryName
}

/** Parameters of the relations search alone: a company record has no person. */
const ONLY_RELATIONS: readonly string[] = ['NationalIdentificationNumber']
/** Lists and stripped texts have no order a person would ask for. */
const NOT_SORTABLE: readonly string[] = ['IndustryCode', 'OrgNo']
const NUMBERS: readonly string[] = ['InternalId', 'OperationalStatus', 'LegalForm', 'CompanyType']

const datatypeOf = (name: string, filterClass: FilterClass): Datatype => {
  if (filterClass === 'date') return 'date'
  if (filterClass === 'text') return 'string'
  return filterClass === 'figure' || NUMBERS.includes(name) ? 'number' : 'string'
}
const isDictionary = (name: string): name is DictionaryName => Object.hasOwn(DICTIONARIES, name)

/** Every search parameter of POST /v2/companies; figures also take the year suffix. */
export const COMPANY_PARAMETERS: readonly CompanyParameter[] = (
  Object.keys(FILTER_CLASSES) as FilterClass[]
).flatMap((filterClass) =>
  FILTER_CLASSES[filterClass].parameters
    .filter((name) => !ONLY_RELATIONS.includes(name))
    .map((name) => ({
      name,
      filterClass,
      datatype: datatypeOf(name, filterClass),
      about: FILTER_CLASSES[filterClass].about,
      sortable: filterClass !== 'text' && !NOT_SORTABLE.includes(name),
      ...(isDictionary(name) && { codes: name }),
    })),
)

/** Names of a content's search parameters, without year suffixes. */
export const parameterNames = (content: Content): readonly string[] =>
  (content === 'companies' ? COMPANY_PARAMETERS : RELATIONS_PARAMETERS).map(({ name }) => name)

/** An entry of either search-parameters listing; relations have the first three fields only. */
export interface ParameterEntry {
  readonly ParameterName: string
  readonly Datatype: string
  readonly Description?: string
  readonly FilterType?: string
  readonly IsSortable?: boolean
  readonly Values?: readonly { readonly Value: string | number; readonly Name: string }[]
}
export interface ParameterListing {
  readonly SearchParameters: readonly ParameterEntry[]
}

/** `Content` of a batch file, as the listing spells it. */
export const BATCH_CONTENT = { companies: 'Companies', relations: 'Relations' } as const satisfies Record<
  Content,
  string
>

/** A file of the batch listing; `CountryCode` is absent for companies without a country. */
export interface BatchFileEntry {
  readonly BatchFileId: string
  readonly FileName: string
  readonly Content: (typeof BATCH_CONTENT)[Content]
  readonly CountryCode?: string
  /** ISO 8601, UTC. */
  readonly CreatedAt: string
  /** Length of the compressed file in bytes. */
  readonly SizeInBytes: number
  /** Records in the file. */
  readonly Count: number
}
export interface BatchListing {
  readonly BatchFiles: readonly BatchFileEntry[]
}
