/** The address of a page, which stands behind `#/` in the browser. Pure. */

import { objectOf, textLike } from '../../../support/json-form.ts'

export const PAGE_ADDRESS = objectOf({ address: textLike(/^[^\0]{0,20000}$/, 'an address of a page') })

/** `coverage/NetSales` as its parts, and what stands behind a `?`; no parts where it is not written as an address is. */
export const addressParts = (
  address: string,
): { readonly parts: readonly string[]; readonly query: string } => {
  const [path = '', ...query] = address.split('?')
  try {
    return { parts: path.split('/').map(decodeURIComponent), query: query.join('?') }
  } catch {
    return { parts: [], query: '' }
  }
}
