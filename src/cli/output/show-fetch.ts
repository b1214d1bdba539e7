/** The progress of fetched and checked files. Loads none of what fetches them: commands import it before they run. */

import type { FetchProgress } from '../../storage/storage.ts'
import { fetchText, longCheckText } from '../fetch-text.ts'
import type { ProgressLine } from './progress-line.ts'

/** Shows how far a fetch and check of files is, and says before a long check that it will be one. */
export const showFetch =
  (line: ProgressLine) =>
  (progress: FetchProgress): void => {
    const long = longCheckText(progress)
    if (long !== undefined && progress.files === 0) line.log(long)
    line.show(() => fetchText(progress))
  }
