/** A page's lines, held to the count of its header: where the two do not agree the answer is not whole. */

import { ToolkitError } from '../../core/errors.ts'
import { type PageKind, type PageLines, pageLines } from '../../decode/page-lines.ts'

/**
 * Reads pages of one kind. A page that lost records, or all of them, would else look like a short or a last one.
 *
 * @throws {ToolkitError} as `pageLines`; ANSWER_INVALID `'half'` (ask again) where the counts differ
 */
export const checkPageCount =
  (kind: PageKind) =>
  (body: Buffer, { Count }: { readonly Count: number }): PageLines => {
    const page = pageLines(body, kind)
    if (page.records === Count) return page
    throw new ToolkitError(
      'ANSWER_INVALID',
      `Cannot read a page: it has ${page.records} records, its X-Pagination says ${Count}`,
      { kind: 'half' },
    )
  }
