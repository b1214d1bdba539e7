/**
 * The words in which the service's objects are declared: field types, the condition under which a field is
 * left out, and the TypeScript types that follow from a declaration. Knows no object by name.
 */

/** When the service leaves a field out ("Serialization rules"); `always` is present whatever its value. */
export type Omitted = 'always' | 'null' | 'zero' | 'default'

/**
 * The subject of a field: `person` is always a person, `entity` is a person too unless
 * the entity that it belongs to is a company.
 */
export type Personal = 'person' | 'entity'

interface Described<O extends Omitted = Omitted> {
  readonly omitted: O
  readonly about: string
  /** Whether it is personal data; absent where it is not. */
  readonly personal?: Personal
}
/** A text; `masked` marks personal data that comes as `Protected Identity`; `codes` names its closed set. */
export interface TextField<O extends Omitted = Omitted> extends Described<O> {
  readonly kind: 'text'
  readonly masked?: true
  readonly codes?: string
}
/** A whole number of 64 bits; `codes` names the dictionary that gives its meaning. */
export interface IntegerField<O extends Omitted = Omitted> extends Described<O> {
  readonly kind: 'integer'
  readonly codes?: string
}
export interface NumberField<O extends Omitted = Omitted> extends Described<O> {
  readonly kind: 'number'
}
export interface BooleanField<O extends Omitted = Omitted> extends Described<O> {
  readonly kind: 'boolean'
}
/** ISO 8601 text. The offset and the number of digits vary. */
export interface DateTimeField<O extends Omitted = Omitted> extends Described<O> {
  readonly kind: 'date-time'
  /** Whether it is a day: the one that is written, whatever offset stands behind it. @default false: it is an instant */
  readonly isDay?: true
  /** Whether it says when the service last changed something. @default false */
  readonly isStamp?: true
}
export interface StringsField<O extends Omitted = Omitted> extends Described<O> {
  readonly kind: 'strings'
  readonly masked?: true
}
export interface ObjectField<T extends ObjectType = ObjectType, O extends Omitted = Omitted>
  extends Described<O> {
  readonly kind: 'object'
  readonly of: T
}
export interface ObjectsField<T extends ObjectType = ObjectType, O extends Omitted = Omitted>
  extends Described<O> {
  readonly kind: 'objects'
  readonly of: T
  readonly masked?: true
}
/** A list of the object that declares the field (`Relation.History`). */
export interface SelfListField<O extends Omitted = Omitted> extends Described<O> {
  readonly kind: 'self-list'
}
/** FinancialsTimeSeries: fiscal year → number. */
export interface SeriesField<O extends Omitted = Omitted> extends Described<O> {
  readonly kind: 'series'
}
/** FinancialsCategories: category → line item → fiscal year → number. */
export interface FinancialsField<O extends Omitted = Omitted> extends Described<O> {
  readonly kind: 'financials'
}

export type Field =
  | TextField
  | IntegerField
  | NumberField
  | BooleanField
  | DateTimeField
  | StringsField
  | ObjectField
  | ObjectsField
  | SelfListField
  | SeriesField
  | FinancialsField

export interface ObjectType {
  readonly name: string
  readonly about: string
  readonly fields: Readonly<Record<string, Field>>
}

export const object = <const F extends Readonly<Record<string, Field>>>(
  name: string,
  about: string,
  fields: F,
): { readonly name: string; readonly about: string; readonly fields: F } => ({ name, about, fields })

export const text = <const O extends Omitted>(omitted: O, about: string, codes?: string): TextField<O> =>
  codes === undefined ? { kind: 'text', omitted, about } : { kind: 'text', omitted, about, codes }
/** Marks a field as personal data. */
export const says = <const F extends Field>(
  whom: Personal,
  field: F,
): F & { readonly personal: Personal } => ({
  ...field,
  personal: whom,
})
/** Text that is masked for persons with a protected identity. */
export const personal = (about: string, whom: Personal = 'person'): TextField<'null'> => ({
  kind: 'text',
  omitted: 'null',
  about,
  masked: true,
  personal: whom,
})
export const integer = <const O extends Omitted>(
  omitted: O,
  about: string,
  codes?: string,
): IntegerField<O> =>
  codes === undefined ? { kind: 'integer', omitted, about } : { kind: 'integer', omitted, about, codes }
export const number = <const O extends Omitted>(omitted: O, about: string): NumberField<O> => ({
  kind: 'number',
  omitted,
  about,
})
export const boolean = <const O extends Omitted>(omitted: O, about: string): BooleanField<O> => ({
  kind: 'boolean',
  omitted,
  about,
})
export const dateTime = <const O extends Omitted>(omitted: O, about: string): DateTimeField<O> => ({
  kind: 'date-time',
  omitted,
  about,
})
/** When the service last changed something; the default date-time where it never did. */
export const stamp = (about: string): DateTimeField<'default'> & { readonly isStamp: true } => ({
  ...dateTime('default', about),
  isStamp: true,
})
/** A day, which the service writes as a date-time. */
export const calendarDay = <const O extends Omitted>(omitted: O, about: string): DateTimeField<O> => ({
  ...dateTime(omitted, about),
  isDay: true,
})
export const strings = (about: string): StringsField<'null'> => ({ kind: 'strings', omitted: 'null', about })
export const personalStrings = (about: string): StringsField<'null'> => ({
  ...strings(about),
  masked: true,
  personal: 'person',
})
export const one = <const T extends ObjectType, const O extends Omitted>(
  of: T,
  omitted: O,
  about: string,
): ObjectField<T, O> => ({ kind: 'object', of, omitted, about })
export const many = <const T extends ObjectType>(of: T, about: string): ObjectsField<T, 'null'> => ({
  kind: 'objects',
  of,
  omitted: 'null',
  about,
})
export const personalMany = <const T extends ObjectType>(of: T, about: string): ObjectsField<T, 'null'> => ({
  ...many(of, about),
  masked: true,
  personal: 'entity',
})
export const selfList = (about: string): SelfListField<'null'> => ({
  kind: 'self-list',
  omitted: 'null',
  about,
})
export const series = (about: string): SeriesField<'null'> => ({ kind: 'series', omitted: 'null', about })
export const financials = (about: string): FinancialsField<'null'> => ({
  kind: 'financials',
  omitted: 'null',
  about,
})

/** Fiscal year (as text) → value. */
export type Series = Readonly<Record<string, number>>
/** Category → line item → fiscal year → value, as reported (the scale not applied). */
export type FinancialsCategories = Readonly<Record<string, Readonly<Record<string, Series>>>>

type ValueOf<F extends Field, Self> = F extends TextField | DateTimeField
  ? string
  : F extends IntegerField | NumberField
    ? number
    : F extends BooleanField
      ? boolean
      : F extends StringsField
        ? readonly string[]
        : F extends ObjectField<infer T>
          ? ShapeOf<T>
          : F extends ObjectsField<infer T>
            ? readonly ShapeOf<T>[]
            : F extends SelfListField
              ? readonly Self[]
              : F extends SeriesField
                ? Series
                : FinancialsCategories

/** The TypeScript type of an object: fields marked `always` are required, all others may be absent. */
export type ShapeOf<T extends ObjectType> = {
  readonly [K in keyof T['fields'] as T['fields'][K]['omitted'] extends 'always' ? K : never]: ValueOf<
    T['fields'][K],
    ShapeOf<T>
  >
} & {
  readonly [K in keyof T['fields'] as T['fields'][K]['omitted'] extends 'always' ? never : K]?: ValueOf<
    T['fields'][K],
    ShapeOf<T>
  >
}
