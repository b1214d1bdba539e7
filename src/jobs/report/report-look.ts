/** Forms of the texts that decide how a report looks. */

import type { OptionType } from '../../core/check-options.ts'

export const LANGUAGE: OptionType = {
  expected: 'a language such as en, sv or de-CH',
  fits: (value) => {
    try {
      return typeof value === 'string' && Intl.NumberFormat.supportedLocalesOf(value).length === 1
    } catch {
      // No language tag.
      return false
    }
  },
}

export const WEB_ADDRESS: OptionType = {
  expected: 'an address such as https://lake.example.com/',
  fits: (value) =>
    typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
}
