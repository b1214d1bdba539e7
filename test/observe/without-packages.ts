/** Preloaded into a process: the packages of OpenTelemetry are not installed there. */

import { registerHooks } from 'node:module'

registerHooks({
  resolve: (specifier, context, next) => {
    if (!specifier.startsWith('@opentelemetry/')) return next(specifier, context)
    throw Object.assign(new Error(`Cannot find package '${specifier}'`), { code: 'ERR_MODULE_NOT_FOUND' })
  },
})
