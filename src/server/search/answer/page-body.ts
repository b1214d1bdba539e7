/** The body of a page: `{"<name>":[…]}` around documents that are bytes already. */

const COMMA = Buffer.from(',')
const END = Buffer.from(']}')

export const pageBody = (name: string, documents: readonly (readonly Buffer[])[]): readonly Buffer[] => [
  Buffer.from(`{${JSON.stringify(name)}:[`),
  ...documents.flatMap((pieces, at) => (at === 0 ? pieces : [COMMA, ...pieces])),
  END,
]

/** Pages that so many records fill. */
export const totalPages = (totalCount: number, pageSize: number): number => Math.ceil(totalCount / pageSize)
