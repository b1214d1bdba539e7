/** The declarations of `[take]` and `[sink_take]` in `firmlake.toml`. */

import type { FileSettings } from '../config/definition.ts'
import { computedOf, masksOf, type Projection } from '../lake/projection/projection.ts'

/** The declaration of a section; `undefined` without a section. */
export const projectionOfSection = (
  section: FileSettings['take'] | FileSettings['sink_take'],
): Projection | undefined =>
  section && {
    countries: section.only_countries,
    where: section.where,
    whereRelations: section.where_relations,
    leaveOut: section.leave_out,
    mask: section.mask && masksOf(section.mask),
    hash: section.hash,
    compute: section.compute && computedOf(section.compute),
    ...('keep_bad_lines' in section && { keepBadLines: section.keep_bad_lines }),
  }
