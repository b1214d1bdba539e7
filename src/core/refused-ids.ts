/** Which records and entities a load leaves out, because the lake was told to forget them. */
export interface RefusedIds {
  /** A company with all its records. */
  readonly isCompany: (id: bigint) => boolean
  /** An entity in others' relations. */
  readonly isEntity: (id: bigint) => boolean
}
