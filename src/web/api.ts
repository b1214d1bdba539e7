/** Questions to the server. The token stays in this module's memory: a page that is loaded again asks for it again. */

export interface ExplorerAnswer {
  readonly snapshot: number
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
  readonly sql?: string
  readonly isCut?: true
}

export type AnswerRow = Readonly<Record<string, unknown>>

/** Why a question has no answer, in words for the reader. */
export class AskFailure extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const WORDS: Readonly<Record<number, string>> = {
  401: 'The server does not accept this token.',
  403: 'This is about the whole lake: it needs a token that may see everything.',
  429: 'Too many requests for this token: wait a moment and try again.',
  501: 'The server has too little memory for the explorer: it needs a larger --memory.',
  503: 'This took too long. Try again, or ask the lake with “firmlake query”.',
}

let token = ''

export const signIn = (text: string): void => {
  token = text
}

/** @throws {AskFailure} */
export const ask = async (
  question: string,
  parameters: object,
  signal: AbortSignal,
): Promise<ExplorerAnswer> => {
  const response = await fetch(`explorer/api/${question}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(parameters),
    cache: 'no-store',
    credentials: 'omit',
    signal,
  })
  if (response.ok) return (await response.json()) as ExplorerAnswer
  throw new AskFailure(response.status, WORDS[response.status] ?? `The server answers ${response.status}.`)
}

export const answerRows = ({ columns, rows }: ExplorerAnswer): readonly AnswerRow[] =>
  rows.map((row) => Object.fromEntries(columns.map((name, at) => [name, row[at]])))
