/** What PostgreSQL and the way to it answer, as errors of the toolkit: no password, no value of a row. */

import { type ErrorCode, systemCode, ToolkitError } from '../../core/errors.ts'

/** What was done, to what. */
export interface Attempt {
  /** `load table "companies"` */
  readonly action: string
  /** `localhost:5432/firmlake` */
  readonly server: string
}

/**
 * Classes of SQLSTATE whose message names objects and no data, and whether someone has to change something first
 * (REFUSED) or trying again may help (FAILED).
 */
const CLASSES: Readonly<Record<string, { readonly code: ErrorCode; readonly isShown: boolean }>> = {
  '08': { code: 'TARGET_FAILED', isShown: true },
  '0A': { code: 'TARGET_REFUSED', isShown: true },
  '22': { code: 'TARGET_REFUSED', isShown: false },
  '23': { code: 'TARGET_REFUSED', isShown: false },
  '25': { code: 'TARGET_REFUSED', isShown: true },
  '28': { code: 'TARGET_REFUSED', isShown: true },
  '2B': { code: 'TARGET_REFUSED', isShown: true },
  '3D': { code: 'TARGET_REFUSED', isShown: true },
  '3F': { code: 'TARGET_REFUSED', isShown: true },
  '40': { code: 'TARGET_FAILED', isShown: true },
  '42': { code: 'TARGET_REFUSED', isShown: true },
  '53': { code: 'TARGET_FAILED', isShown: true },
  '54': { code: 'TARGET_REFUSED', isShown: true },
  '55': { code: 'TARGET_FAILED', isShown: true },
  '57': { code: 'TARGET_FAILED', isShown: true },
  '58': { code: 'TARGET_FAILED', isShown: true },
}

const SQLSTATE = /^[0-9A-Z]{5}$/

/** Facts of an answer that name no data: table, column, constraint. */
const NAMES = ['table', 'column', 'constraint'] as const

const namesOf = (error: object): string =>
  NAMES.flatMap((part) => {
    const name: unknown = Reflect.get(error, part)
    return typeof name === 'string' && name !== '' ? [` ${part} "${name}"`] : []
  }).join(',')

/** The message of a server's answer, or where it might hold data only what it is about. */
const reasonOf = (error: Error, state: string, isShown: boolean): string =>
  isShown ? `${error.message} (${state})` : `it does not take a value (${state})${namesOf(error)}`

/** Problems of the address or of TLS: the same address fails again. */
const ADDRESS_CODES = /^(ENOTFOUND|EACCES|EPERM|ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_INVALID)/

/** The server's own text of an answer may hold rows in its detail: it is not handed on as a cause. */
export const targetError = ({ action, server }: Attempt, error: unknown): ToolkitError => {
  if (error instanceof ToolkitError) return error
  const start = `Cannot ${action} at PostgreSQL server "${server}"`
  if (!(error instanceof Error)) return new ToolkitError('TARGET_FAILED', `${start}: ${String(error)}`)
  const state = systemCode(error) ?? ''
  if (SQLSTATE.test(state) && 'severity' in error) {
    const { code, isShown } = CLASSES[state.slice(0, 2)] ?? { code: 'TARGET_FAILED', isShown: false }
    return new ToolkitError(code, `${start}: ${reasonOf(error, state, isShown)}`, { sqlstate: state })
  }
  const refused =
    ADDRESS_CODES.test(state) ||
    /server does not support SSL|must be a string|no pg_hba|certificate/i.test(error.message)
  // Of several addresses of one name each has its own failure, and the whole has no message.
  const reason = error.message || state
  return new ToolkitError(refused ? 'TARGET_REFUSED' : 'TARGET_FAILED', `${start}: ${reason}`, {}, error)
}
