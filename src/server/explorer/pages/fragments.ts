/** Fragments of the explorer's pages by their names, and their answers to a caller. */

import { FormError } from '../../../support/json-form.ts'
import type { Caller } from '../../access/caller.ts'
import { type AskExplorer, parsedBody } from '../explorer.ts'
import { CONTEXT_FRAGMENTS } from './context.ts'
import { type Fragment, readerOf, type Unanswerable, Unanswered } from './fragment.ts'

export const FRAGMENTS: Readonly<Record<string, Fragment>> = { ...CONTEXT_FRAGMENTS }

/** @param body as it came */
export const renderFor = async <Content>(
  { render }: Fragment<Content>,
  body: string,
  [ask, caller, signal]: readonly [ask: AskExplorer, caller: Caller, signal: AbortSignal],
): Promise<{ readonly kind: 'content'; readonly content: Content } | Unanswerable> => {
  try {
    return { kind: 'content', content: await render(readerOf(ask, caller, signal), parsedBody(body)) }
  } catch (error) {
    if (error instanceof Unanswered) return error.reply
    if (error instanceof FormError) return { kind: 'refused', messages: [`${error.message}.`] }
    throw error
  }
}
