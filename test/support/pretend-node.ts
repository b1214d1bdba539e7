/** Makes this process take itself for one of another release of Node. */

import { onTestFinished } from 'vitest'

/** Until the test ends. */
export const pretendNode = (node: string): void => {
  const real = process.versions
  const set = (value: NodeJS.ProcessVersions): void => {
    Object.defineProperty(process, 'versions', { configurable: true, enumerable: true, value })
  }
  set({ ...real, node })
  onTestFinished(() => set(real))
}

/** For the `--import` of another process. */
export const pretendingModule = (node: string): string =>
  `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'${node}'}})`
