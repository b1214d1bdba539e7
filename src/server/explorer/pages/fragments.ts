/** Fragments and files of the explorer's pages by their names, and their answers to a caller. */

import { FormError } from '../../../support/json-form.ts'
import type { Caller } from '../../access/caller.ts'
import type { AskExplorer } from '../explorer.ts'
import { figuresFile, holdingsFile, workbookFile } from './company.ts'
import { companies, companiesFile } from './company-list.ts'
import { compareFile } from './compare.ts'
import { CONTEXT_FRAGMENTS } from './context.ts'
import type { SavedFile } from './csv-files.ts'
import { facets } from './facets.ts'
import { figures } from './figures-part.ts'
import { found } from './found.ts'
import { type Fragment, readerOf, type Unanswerable, Unanswered } from './fragment.ts'
import { lake } from './home.ts'
import { ownership, ultimateOwners } from './ownership.ts'
import { page } from './pages.ts'
import { proof } from './proof.ts'
import { section, sectionFile } from './report-page.ts'

export const FRAGMENTS: Readonly<Record<string, Fragment>> = {
  page,
  ...{ companies, facets, found, lake, section },
  ...CONTEXT_FRAGMENTS,
  ...{ figures, proof, ownership, 'ultimate-owners': ultimateOwners },
}

export const PAGE_FILES: Readonly<Record<string, Fragment<SavedFile>>> = {
  ...{ companies: companiesFile, compare: compareFile, section: sectionFile },
  ...{ workbook: workbookFile, figures: figuresFile, holdings: holdingsFile },
}

/** @throws {FormError} */
const parsedBody = (body: string): unknown => {
  try {
    return JSON.parse(body === '' ? '{}' : body)
  } catch {
    throw new FormError('the body', 'JSON')
  }
}

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
