/** The environment of a process in which the packages of an optional part are not installed. */

import { OPTIONAL_PARTS, type OptionalPartName } from '../../src/core/optional-parts.ts'

export const withoutPart = (part: OptionalPartName): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import ${new URL('hide-packages.ts', import.meta.url).href}`,
  HIDDEN_PACKAGES: OPTIONAL_PARTS[part].packages.map(({ name }) => name).join(','),
})
