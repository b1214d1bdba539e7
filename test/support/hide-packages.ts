/** Preloaded into a process: the packages that HIDDEN_PACKAGES names, separated by commas, are not installed there. */

import { registerHooks } from 'node:module'

const hidden = (process.env.HIDDEN_PACKAGES ?? '').split(',')

registerHooks({
  resolve: (specifier, context, next) => {
    if (!hidden.some((name) => specifier === name || specifier.startsWith(`${name}/`)))
      return next(specifier, context)
    throw Object.assign(new Error(`Cannot find package '${specifier}'`), { code: 'ERR_MODULE_NOT_FOUND' })
  },
})
