/** A part of the explorer's pages as HTML: its parameters as the page sends them, and the questions that it asks. */

import { type Html, html } from '../../../report/html.ts'
import type { ReportRow } from '../../../report/rows.ts'
import type { Form } from '../../../support/json-form.ts'
import type { Caller } from '../../access/caller.ts'
import { type AskExplorer, type ExplorerReply, maySeeOf } from '../explorer.ts'
import { type MaySee, type QuestionAnswer, rowObjects } from '../question.ts'

/** The answer to a question, with its rows by the names of their columns. */
export interface Answered extends Omit<QuestionAnswer, 'rows'> {
  readonly snapshot: number
  readonly rows: readonly ReportRow[]
}

/** Who reads a page. */
export interface Reader {
  /** Asks a question in the reader's name. @throws {Unanswered} */
  readonly ask: (question: string, parameters: object) => Promise<Answered>
  /** Whether the reader may see what belongs to no country. */
  readonly seesAll: boolean
  /** Whether the reader may see what a statement reads. */
  readonly maySee: MaySee
}

export interface Fragment<Content = Html> {
  /** @throws {FormError} where a parameter is missing or wrong */
  readonly render: (reader: Reader, sent: unknown) => Promise<Content>
}

/** @param render whose content is HTML, or a file */
export const fragment = <Parameters, Content = Html>(
  parameters: Form<Parameters>,
  render: (reader: Reader, parameters: Parameters) => Promise<Content>,
): Fragment<Content> => ({ render: (reader, sent) => render(reader, parameters(sent, 'the body')) })

export type Unanswerable = Exclude<ExplorerReply, { kind: 'answer' }>

/** A question of a fragment has no answer. */
export class Unanswered extends Error {
  readonly reply: Unanswerable
  constructor(reply: Unanswerable) {
    super(reply.kind)
    this.reply = reply
  }
}

/** The reader that a caller is, until the signal. */
export const readerOf = (ask: AskExplorer, caller: Caller, signal: AbortSignal): Reader => ({
  seesAll: caller.rights === 'everything',
  maySee: maySeeOf(caller),
  ask: async (question, parameters) => {
    const reply = await ask(question, parameters, caller, signal)
    if (reply.kind !== 'answer') throw new Unanswered(reply)
    return { ...reply, rows: rowObjects(reply) }
  },
})

/** A spot of a page that another fragment fills; it keeps its content until then. */
export interface PartPlace {
  /** Name of the fragment. */
  readonly part: string
  readonly parameters: object
  /** The subject, for whoever waits for it or hears that it failed. */
  readonly title: string
  /** Lines of its skeleton. @default 3 */
  readonly lines?: number
  /** Class of the skeleton's card. @default '' */
  readonly width?: string
  /** Whether those that stand behind it come first. @default false */
  readonly isLast?: boolean
}

export const place = ({ part, parameters, title, lines = 3, width = '', isLast = false }: PartPlace): Html =>
  html`<div data-part="${part}" data-ask="${JSON.stringify(parameters)}" data-title="${title}"${isLast ? html` data-last` : html``}><div class="${`card skeleton ${width}`.trim()}"><span class="vh">Loading: ${title}</span>${Array.from({ length: lines }, () => html`<i></i>`)}</div></div>\n`
