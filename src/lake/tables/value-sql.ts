/**
 * SQL between values of the service and values of the lake. A date-time is the instant in UTC (no offset means UTC) in
 * microseconds, a day the one that is written, as if it were in UTC; a text that cannot be restored from it (an offset, a `Z`, a seventh digit, no date at all) is kept beside it.
 * In JSON text a member without a value is left out and an object without members is NULL, which the contract calls omitted.
 */

import { FIGURE_SCALE } from '../../contract/dictionaries.ts'
import type { Field, ObjectType } from '../../contract/fields.ts'
import { ident, literal } from '../duckdb/sql.ts'
import { snakeCase } from './columns.ts'

/** The service's default date-time, which counts as absent: the beginning of the first day, in any spelling and zone. */
const isDefault = (text: string): string =>
  `(starts_with(${text}, '0001-01-01') AND regexp_full_match(${text}, ${DEFAULT}))`
const DEFAULT = "'.{10}([Tt ]00:00(:00([.,]0*)?)?)? ?([Zz]|[+-]\\d\\d(:?\\d\\d)?)?\\s*'"

/** The instant of a text; NULL for the default date-time and for what is none. */
const instantOf = (text: string): string =>
  // Most have no offset: a cast to TIMESTAMP costs a fifth of one that asks for the zone.
  `CASE WHEN ${isDefault(text)} THEN NULL
    WHEN regexp_full_match(${text}, ${NO_ZONE}) THEN make_timestamptz(epoch_us(try_cast(${text} AS TIMESTAMP)))
    WHEN ${text}[5] = '-' THEN try_cast(${text} AS TIMESTAMPTZ) END`
/** To a cast that asks for the zone, DuckDB gives a text without one the zone that a text before it has named. */
const NO_ZONE = "'\\d{4}-\\d\\d?-\\d\\d?([T ]\\d\\d?:\\d\\d?(:\\d\\d?(\\.\\d*)?)?)?\\s*'"

/** The day of a text, with its time, as it is written; NULL where it has no instant. */
export const dayOf = (text: string): string =>
  `CASE WHEN ${instantOf(text)} IS NOT NULL THEN
    make_timestamptz(epoch_us(try_cast(regexp_extract(${text}, ${LOCAL}) AS TIMESTAMP))) END`
/** The text without its zone. */
const LOCAL = "'^[0-9-]+([T ][0-9:.]+)?'"

/** The text of an instant: `2020-01-02T03:04:05`, with a fraction only where there is one, no offset. */
const textOfInstant = (instant: string): string =>
  `replace(CAST(CAST(${instant} AS TIMESTAMP) AS VARCHAR), ' ', 'T')`

/** A text that can be restored from the instant: a year from 1, no offset, at most six digits, none of them a last zero. */
const PLAIN =
  "'(\\d{3}[1-9]|\\d{2}[1-9]0|\\d[1-9]00|[1-9]000)-\\d\\d-\\d\\dT([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{0,5}[1-9])?'"

/** Whether the text cannot be restored from its instant. */
const isUnlike = (text: string, instant: string): string =>
  `(NOT regexp_full_match(${text}, ${PLAIN}) OR ${instant} IS NULL) AND NOT ${isDefault(text)}`

/** A list of texts as a list of instants. One lambda for all: planning eleven long expressions takes longer. */
export const instantsOf = (strings: string): string =>
  `list_transform(${strings}, lambda t : ${instantOf('t')})`

/**
 * JSON object of the texts that cannot be restored from their instants, NULL where all can.
 *
 * @param names of the members, in the order of the lists `texts` and `instants`
 */
export const unparsedTimestamps = (names: readonly string[], strings: string, instants: string): string => {
  const zipped = `list_zip([${names.map(literal).join(', ')}], ${strings}, ${instants})`
  const unlike = `list_filter(${zipped}, lambda d : ${isUnlike('d[2]', 'd[3]')})`
  const members = `list_transform(${unlike}, lambda d : to_json(d[1])::VARCHAR || ':' || to_json(d[2])::VARCHAR)`
  return `'{' || nullif(array_to_string(${members}, ','), '') || '}'`
}

const SCALED = Object.entries(FIGURE_SCALE).filter(([, factor]) => factor !== 1)

/** The factor of a scale's text; a record without one is absolute (`None` is the default). */
export const factorOf = (scale: string): string =>
  `CASE ${scale} ${SCALED.map(([name, factor]) => `WHEN ${literal(name)} THEN ${factor}::DOUBLE`).join(' ')} ELSE 1 END`

/** `"Name":value` of a column, NULL where the column is. */
export const jsonMember = (name: string, valueText: string): string =>
  `${literal(`"${name}":`)} || ${valueText}`

/** An object of members that may be NULL; NULL where all are. */
export const objectText = (members: readonly string[]): string =>
  `'{' || nullif(concat_ws(',', ${members.join(', ')}), '') || '}'`

/** JSON text of a value of the lake in a column of the field's type. */
export const valueText = (field: Field, value: string): string => {
  switch (field.kind) {
    case 'date-time':
      return `to_json(${textOfInstant(value)})::VARCHAR`
    case 'number':
      return numberText(value)
    case 'object':
      return objectText(structMembers(field.of, value))
    case 'objects': {
      const item = `coalesce(${objectText(structMembers(field.of, 'item'))}, '{}')`
      return `'[' || array_to_string(list_transform(${value}, lambda item : ${item}), ',') || ']'`
    }
    default:
      return `to_json(${value})::VARCHAR`
  }
}

/** A double as JSON: whole numbers without a fraction up to 2^53. */
export const numberText = (value: string): string =>
  `CASE WHEN ${value} = trunc(${value}) AND abs(${value}) < 9007199254740992 AND NOT (${value} = 0 AND signbit(${value})) ` +
  `THEN CAST(CAST(${value} AS BIGINT) AS VARCHAR) ELSE to_json(${value})::VARCHAR END`

const structMembers = (object: ObjectType, struct: string): string[] =>
  Object.entries(object.fields).map(([name, field]) =>
    jsonMember(name, valueText(field, `${struct}.${ident(snakeCase(name))}`)),
  )
