/** Which rows a published table has, and where its logs stand in the lake. */

/** `all`: every version of every record, beside the lake's own files. `current`: the current ones, in a place of their own. */
export type PublishedRows = 'all' | 'current'

export const PUBLISHED_ROWS: readonly PublishedRows[] = ['all', 'current']
