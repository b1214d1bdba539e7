/** An error as a person or a program reads it on standard error. Never a stack, never a record's content. */

import { inspect } from 'node:util'
import { CommanderError } from 'commander'
import { ERROR_CODES, type ErrorCode, knownError, systemCode, ToolkitError } from '../../core/errors.ts'
import { LAKE_MISSING } from '../config/loaded-config.ts'
import { logsJson, withColour, writeLog } from './log.ts'
import { coloured, printable } from './text-table.ts'

interface ErrorReport {
  readonly code: ErrorCode | 'UNEXPECTED'
  readonly message: string
  readonly context: Readonly<Record<string, string | number>>
  readonly remedy: string
}

const UNEXPECTED_REMEDY = 'this is a fault of firmlake; report it with what FIRMLAKE_DEBUG=1 prints'

/** DuckDB's messages quote the data they stumble over. */
const ENGINE_MESSAGE = /^([A-Z][A-Za-z-]*(?: [A-Za-z-]+)* Error): /

/** Wrong usage as commander reports it, as a `ToolkitError`. */
export const asToolkitError = (error: unknown): unknown => {
  if (!(error instanceof CommanderError)) return error
  const lacksLake = error.code === 'commander.missingMandatoryOptionValue' && error.message.includes('--lake')
  const text = lacksLake ? LAKE_MISSING : sentence(error.message.replace(/^error: /, ''))
  return new ToolkitError('USAGE', text, {}, error)
}

const sentence = (text: string): string =>
  (text.charAt(0).toUpperCase() + text.slice(1)).replaceAll("'", '"').replaceAll('\n', ' ').replace(/\.$/, '')

const describe = (caught: unknown): ErrorReport => {
  const error = knownError(caught) ?? caught
  if (error instanceof ToolkitError) {
    const { code, message, context } = error
    return { code, message, context, remedy: ERROR_CODES[code] }
  }
  const message = error instanceof Error ? error.message : String(error)
  const engine = ENGINE_MESSAGE.exec(message)?.[1]
  if (engine !== undefined) {
    const text = `DuckDB gave up with "${engine}"; FIRMLAKE_DEBUG=1 shows its words, which may quote data`
    return { code: 'ENGINE_FAILED', message: text, context: {}, remedy: ERROR_CODES.ENGINE_FAILED }
  }
  const system = systemCode(error)
  return {
    code: 'UNEXPECTED',
    message,
    context: system === undefined ? {} : { system },
    remedy: UNEXPECTED_REMEDY,
  }
}

/** A line of a message. A tab stays one: an excerpt of a statement stands above a caret. */
const shownLine = (line: string): string => line.split('\t').map(printable).join('\t')

/** Options, commands, documents and variables that a text names. */
const NAMED = /--[a-z][a-z-]*|(?<=")firmlake [^"]*(?=")|docs\/[\w-]+\.md|FIRMLAKE_\w+/g
/** A remedy that points to the message alone. */
const POINTS_BACK = /\bmessage (says|has|names)\b/

/** The part of a remedy, `meaning; what to do`, that a message does not say itself; empty where it says all of it. */
const furtherRemedy = (message: string, remedy: string): string => {
  const saysAll = (text: string): boolean => {
    const named = text.match(NAMED) ?? []
    return named.length > 0 ? named.every((name) => message.includes(name)) : message.includes(text)
  }
  const [meaning = '', ...more] = remedy.split('; ')
  const advice = more.join('; ')
  const pointsBack = POINTS_BACK.test(advice) && advice.match(NAMED) === null
  if (pointsBack || (advice !== '' && saysAll(advice))) return ''
  return saysAll(meaning) ? advice : remedy
}

/**
 * The text of an error: `error CODE: message` and what to do beyond it, or for programs one line of JSON,
 * `{"error":{"code","message","context"}}`. With `debug` the stack and its causes follow.
 */
export const errorText = (error: unknown, { json = false, debug = false } = {}): string => {
  const { code, message, context, remedy } = describe(error)
  const further = furtherRemedy(message, remedy)
  const lines = [...message.split('\n').map(shownLine), ...(further === '' ? [] : [further])]
  const text = json
    ? JSON.stringify({ error: { code, message, context } })
    : `error ${code}: ${lines.join('\n  ')}`
  return `${text}\n${debug ? `${inspect(error, { depth: 5 })}\n` : ''}`
}

/** Writes an error to standard error. @param json the result was asked for as JSON */
export const logError = (
  error: unknown,
  options: { readonly json: boolean; readonly debug: boolean },
): void => {
  if (!logsJson()) {
    const text = errorText(error, options)
    const { remedy } = describe(error)
    const hint = coloured('dim', remedy, process.stderr)
    process.stderr.write(
      withColour(options.json ? text : text.replace(`\n  ${remedy}\n`, () => `\n  ${hint}\n`)),
    )
    return
  }
  const { code, message, context, remedy } = describe(error)
  const stack = options.debug ? { stack: inspect(error, { depth: 5 }) } : {}
  writeLog(`error ${code}: ${message}`, { error: { code, message, context, remedy }, ...stack })
}
