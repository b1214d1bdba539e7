/** The declarations of `[take]` and `[sink_take]` in `firmlake.toml`. */

import type { FileSettings } from '../../config/definition.ts'
import { computedOf, masksOf, type Take } from '../../lake/projection/declaration.ts'

/** The declaration of a section; `undefined` without a section. */
export const takeOfSection = (section: FileSettings['take'] | FileSettings['sink_take']): Take | undefined =>
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
