/** Whether two addresses mean one lake: settings of one lake are not those of another one. */

import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { FileSettings } from '../config/definition.ts'
import { readLakeId } from '../manifest/snapshots/lake-id.ts'
import { storageOf } from '../storage/open-storage.ts'

const placeOf = async (lake: string): Promise<string> => {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(lake)) return storageOf(lake).uri
  const path = resolve(lake)
  return realpath(path).catch(() => path)
}

/** Compares two lakes by their ids, where both have one, else by their places, links followed. A bucket that does not answer has none. */
export const isSameLake = async (a: string, b: string): Promise<boolean> => {
  const [one, other] = await Promise.all([placeOf(a), placeOf(b)])
  if (one === other) return true
  const [idOfOne, idOfOther] = await Promise.all(
    [one, other].map((lake) => readLakeId(lake).catch(() => null)),
  )
  return idOfOne != null && idOfOne === idOfOther
}

/** Sections that belong to the lake which the file names. What a lake takes holds for every lake: persons must not get in. */
export const SECTIONS_OF_LAKE: ReadonlySet<string> = new Set(['targets', 'catalog', 'check', 'report'])

/** Settings for a lake: without those that are of the lake which the file names, where that is another one. */
export const settingsOfLake = async (
  settings: FileSettings,
  lake: string | undefined,
): Promise<FileSettings> => {
  if (settings.lake === undefined || !lake || (await isSameLake(settings.lake, lake))) return settings
  const kept = Object.entries(settings).filter(([section]) => !SECTIONS_OF_LAKE.has(section))
  return Object.fromEntries(kept)
}

/** The line that says so. */
export const otherLakeText = (file: string, own: string, lake: string): string =>
  `"${lake}" is not the lake of "${file}", "${own}": its [targets], [check] and [report] do not apply; [take] and [sink_take] do`
