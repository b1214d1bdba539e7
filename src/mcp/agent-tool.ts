/** A tool that an agent calls: its parameters as JSON Schema for the client, and as forms that check what is sent. */

import { ToolkitError } from '../core/errors.ts'
import {
  type Fields,
  type Form,
  FormError,
  form,
  isObject,
  type ObjectOf,
  objectOf,
} from '../support/json-form.ts'

/** JSON Schema of a parameter. */
export type ParameterSchema = Readonly<Record<string, unknown>> & { readonly description: string }

/** A whole number from 1 to `most` that may be left out. */
export const upTo = (most: number, otherwise: number, description: string): ParameterSchema => ({
  ...{ type: 'integer', minimum: 1, maximum: most, default: otherwise },
  description,
})

export const wholeUpTo = (most: number): Form<number> =>
  form(
    (value): value is number => Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= most,
    `a whole number from 1 to ${most}`,
  )

export interface AgentTool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: Readonly<Record<string, unknown>>
  /** @returns JSON @throws {ToolkitError} `USAGE` for wrong parameters, and what the work throws */
  readonly call: (sent: unknown, signal: AbortSignal) => Promise<string>
}

interface Declared<F extends Fields> extends Pick<AgentTool, 'name' | 'title' | 'description'> {
  readonly fields: F
  readonly parameters: Readonly<Record<keyof F, ParameterSchema>>
  readonly answer: (parameters: ObjectOf<F>, signal: AbortSignal) => Promise<string>
}

export const agentTool = <F extends Fields>(declared: Declared<F>): AgentTool => {
  const { name, title, description, fields, parameters, answer } = declared
  const formOfAll = objectOf(fields)
  const schemas = Object.entries<ParameterSchema>(parameters)
  const wrong = (reason: string): ToolkitError =>
    new ToolkitError('USAGE', `Cannot call "${name}": ${reason}`)

  const read = (sent: unknown): ObjectOf<F> => {
    const unknown = isObject(sent)
      ? Object.keys(sent).find((one) => !Object.hasOwn(parameters, one))
      : undefined
    if (unknown !== undefined) {
      const known = schemas.length === 0 ? 'none' : schemas.map(([one]) => one).join(', ')
      throw wrong(`there is no parameter ${JSON.stringify(unknown.slice(0, 40))}, expected ${known}`)
    }
    try {
      return formOfAll(sent, '')
    } catch (error) {
      throw error instanceof FormError ? wrong(error.message) : error
    }
  }

  return {
    ...{ name, title, description },
    inputSchema: {
      type: 'object',
      properties: parameters,
      required: Object.keys(fields).filter((one) => typeof fields[one] === 'function'),
      additionalProperties: false,
    },
    call: async (sent, signal) => answer(read(sent ?? {}), signal),
  }
}
