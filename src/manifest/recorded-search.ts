/** A search as the manifest keeps it, where every snapshot would repeat it for good: of persons' numbers only how many. */

import type { SearchParameters } from '../contract/requests.ts'
import type { PartitionEntry, PullEntry, SourceEntry } from '../core/partition.ts'

/** Absent of a snapshot that may hold searches as earlier releases recorded them: with hashes of persons' numbers. */
export interface WithSearches {
  readonly searches?: 'counted' | undefined
}

/** Parameters whose values name a person. */
const PERSONAL: readonly string[] = ['nationalidentificationnumber']
const COUNT = /^\d+ values?$/

const isPersonal = (name: string): boolean => PERSONAL.includes(name.toLowerCase())

/** Whether a search names persons: once it is recorded, nobody can tell whether another one asks for the same. */
export const namesPersons = (search: SearchParameters): boolean => Object.keys(search).some(isPersonal)

const isCount = (values: readonly unknown[]): boolean => values.length === 1 && COUNT.test(String(values[0]))

const countOf = (values: readonly unknown[]): string =>
  `${values.length} ${values.length === 1 ? 'value' : 'values'}`

/**
 * The search with a count in place of values that name persons; the same object where it has none, or counts already.
 *
 * @example recordedSearch({ NationalIdentificationNumber: ['19500101-1234'] }) // { NationalIdentificationNumber: ['1 value'] }
 */
export const recordedSearch = (search: SearchParameters): SearchParameters =>
  Object.entries(search).every(([name, values]) => !isPersonal(name) || isCount(values))
    ? search
    : Object.fromEntries(
        Object.entries(search).map(([name, values]) => [
          name,
          isPersonal(name) && !isCount(values) ? [countOf(values)] : values,
        ]),
      )

/** A pull with its search as it is recorded; the same object where it is so already. */
export const recordedPull = (pull: PullEntry): PullEntry => {
  const search = recordedSearch(pull.search)
  return search === pull.search ? pull : { ...pull, search }
}

const recordedSource = <Source extends SourceEntry>(source: Source): Source => {
  const { window } = source
  const search = window && recordedSearch(window.search)
  return window === undefined || search === undefined || search === window.search
    ? source
    : { ...source, window: { ...window, search } }
}

/** The same of a partition. */
export const recordedPartition = (partition: PartitionEntry): PartitionEntry => {
  const source = recordedSource(partition.source)
  const sources = partition.sources?.map(recordedSource)
  const isSame =
    source === partition.source && (sources ?? []).every((one, at) => one === partition.sources?.[at])
  return isSame ? partition : { ...partition, source, ...(sources && { sources }) }
}
