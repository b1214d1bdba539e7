/** A cursor that leads to an empty page: it holds the pagination of the page before. */

const BEGINNING = 'empty-last-page.'

export const isEndCursor = (cursor: string): boolean => cursor.startsWith(BEGINNING)

export const endCursorOf = (pagination: object): string =>
  `${BEGINNING}${Buffer.from(JSON.stringify(pagination)).toString('base64url')}`

/** The pagination that an end cursor holds, as JSON text. */
export const paginationIn = (cursor: string): string =>
  Buffer.from(cursor.slice(BEGINNING.length), 'base64url').toString()
