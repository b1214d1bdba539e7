/** What units are opened with, and what a worker is given of them. */

import type { Source } from '../../core/source.ts'
import type { Service } from '../../source/service/service.ts'

export interface OpenUnitOptions {
  /** Opens the service at an address, for the kinds of jobs that call one; whoever opens it closes it. */
  readonly service: (url: string) => Promise<Service>
  /** Windows pulled, or files downloaded, side by side. */
  readonly concurrency: number
  readonly signal?: AbortSignal | undefined
}

export interface OpenedUnits {
  /** Of all units, in their order. */
  readonly sources: readonly Source[]
  /** The file of ids beside a source, where the closing of a gap needs them. */
  readonly idsPath?: ((index: number) => string | undefined) | undefined
}
