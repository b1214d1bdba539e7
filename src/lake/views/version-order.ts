/**
 * The order of the versions of a record: by the instant as of which the service said them, and of one instant as they were
 * committed. The last one is current. Whoever asks which version is the newer one, or the last, takes it from here.
 */

/** The order of rows that have `as_of` and `version`. @param alias of the rows */
export const versionOrder = (alias?: string, direction: 'ASC' | 'DESC' = 'ASC'): string =>
  ['as_of', 'version']
    .map((name) => `${alias === undefined ? '' : `${alias}.`}${name}${direction === 'DESC' ? ' DESC' : ''}`)
    .join(', ')

/** The value of a column in the last version, of rows that are grouped by record. */
export const ofLastVersion = (column: string): string => `arg_max_null(${column}, (${versionOrder()}))`

/** The last version itself, of rows that are grouped by record: a struct of `as_of`, `version` and another column. */
export const lastVersionWith = (column: string): string =>
  `max({'as_of': as_of, 'version': version, '${column}': ${column}})`

/** The same of a dictionary, which has no instants: what was committed last counts. */
export const dictionaryOrder = (alias?: string): string =>
  `${alias === undefined ? '' : `${alias}.`}version DESC`
