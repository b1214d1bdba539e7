/** The service's objects, field by field, as its interface lists them ("Resources and their fields"). */

import {
  boolean,
  calendarDay,
  dateTime,
  financials,
  integer,
  many,
  number,
  object,
  one,
  personal,
  personalMany,
  personalStrings,
  type ShapeOf,
  says,
  selfList,
  series,
  stamp,
  strings,
  text,
} from './fields.ts'

/** The text in place of the personal data of a person with a protected identity. */
export const PROTECTED_IDENTITY = 'Protected Identity'

/**
 * Whether personal data is masked, itself or in a list: it protects whatever `IsProtected` says. A mask inside an address protects
 * where `IsProtected` is missing.
 */
export const isMasked = (value: unknown): boolean =>
  value === PROTECTED_IDENTITY || (Array.isArray(value) && value.includes(PROTECTED_IDENTITY))

export const ADDRESSES = object('Addresses', 'A registered postal address.', {
  Street: text('null', 'Street and number.'),
  Zipcode: text('null', 'Postal code.'),
  City: text('null', 'City.'),
  County: text('null', 'County or state.'),
  Muncipality: text('null', 'Municipality.'), // sic
})

export const DESCRIPTION = object('Description', 'Business descriptions.', {
  BusinessDescriptionENG: text('null', 'In English.'),
  BusinessDescriptionOriginal: text('null', 'In the original language.'),
})

export const INDUSTRY_ITEM = object('IndustryItem', 'One industry classification.', {
  Code: text('null', 'Classification code.'),
  Text: text('null', 'Description of the code.'),
  Type: text('null', 'Classification.', 'IndustryItemType'),
})

export const INDUSTRY_CODE = object('IndustryCode', 'Industry classifications; lists default to empty.', {
  IndustryCodes: many(INDUSTRY_ITEM, "The company's own."),
  WeightedGroupIndustryCodes: many(INDUSTRY_ITEM, "The group's."),
})

export const BASIC_DETAILS = object('BasicDetails', 'Registration data.', {
  InternalId: integer('always', 'Unique company identifier; primary key across calls.'),
  CompanyName: text('null', 'Registered name.'),
  OrgNo: text('null', 'National organisation/registration number; format varies by country.'),
  CountryCode: text('null', 'ISO 3166-1 alpha-2 code.'),
  CompanyType: integer('zero', 'Role in a group hierarchy.', 'CompanyType'),
  OperationalStatus: integer('zero', 'Status.', 'OperationalStatus'),
  LegalForm: integer('zero', 'Legal form.', 'LegalForm'),
  ListingType: text('null', 'Listed or private.', 'ListingType'),
  Address: one(ADDRESSES, 'null', 'Registered postal address.'),
  Description: one(DESCRIPTION, 'null', 'Business descriptions.'),
  IndustryCode: one(INDUSTRY_CODE, 'always', 'Industry classifications.'),
  Email: says('person', text('null', 'Official contact e-mail.')),
  Phone: says('person', text('null', 'Official contact phone.')),
  URL: text('null', 'Primary website.'),
  AdditionalUrls: strings('More websites.'),
  VATNumber: text('null', 'VAT identification number.'),
  RegistrationDate: text('null', 'Registration date.'),
  Signatory: says('person', text('null', 'Authorized signatory or signing rules.')),
  PreviousNames: strings('Historical names.'),
  HasReportedMissingUBO: boolean('always', 'Flagged as missing beneficial-owner data.'),
})

export const ENHANCED_DETAILS = object('EnhancedDetails', 'Enriched data.', {
  Employees: series('Consolidated headcount by year.'),
  EmployeesUnconsolidated: series('Parent-only headcount by year.'),
  HasForeignUltimateParent: boolean('always', 'The ultimate parent is in another country.'),
  HasGroupStructure: boolean('always', 'The company belongs to a group.'),
  Keywords: strings('Tags.'),
  PrivateEquityOwner: text('null', 'Name of private-equity owner.'),
  WebsiteSummary: text('null', 'Summary from the website.'),
  UltimateParentOrgNo: text('null', "Ultimate parent's organisation number."),
  UltimateParentCompanyName: text('null', "Ultimate parent's name."),
  URL: text('null', 'Website.'),
  AdditionalUrls: strings('More websites.'),
})

export const MINIFIED_INFO = object('MinifiedInfo', 'What a minified search returns of a company.', {
  InternalId: integer('always', 'Company identifier.'),
  OrgNo: text('null', 'Organisation number.'),
  CompanyName: text('null', 'Name.'),
  CountryCode: text('null', 'ISO country code.'),
  OperationalStatus: integer('zero', 'Status code.', 'OperationalStatus'),
  LastFiscalYearEnd: calendarDay('null', 'End of last fiscal year.'),
  LocalCurrencyCode: text('null', 'Local currency code.'),
  BeneficialOwnerUpdatedAt: dateTime('null', 'UBO data changed.'),
  CompanyInfoUpdatedAt: dateTime('null', 'Registration data changed.'),
  FinancialsUpdatedAt: dateTime('null', 'Financial statements updated.'),
  KeyPeopleUpdatedAt: dateTime('null', 'Board members or CEO changed.'),
  OwnersUpdatedAt: dateTime('null', 'Ownership structure changed.'),
  ContentUpdatedAt: dateTime('null', 'Broad content update (includes relations).'),
  RelationsUpdatedAt: dateTime('null', 'Corporate group relationships changed.'),
  UltimateParentOrgNo: text('null', "Ultimate parent's organisation number."),
  Url: text('null', 'Website.'), // sic: `URL` in BasicDetails
})

export const META_DATA = object(
  'MetaData',
  'Currency settings, fiscal-year info, figure scale, freshness timestamps.',
  {
    LocalCurrencyCode: text('null', 'Domestic currency.'),
    CurrentCurrencyCode: text('always', 'Currency of the figures; equals the requested one.'),
    FinancialFigureScale: text('always', 'Scale of the amounts as they come.', 'FinancialFigureScale'),
    FiscalYearLength: integer('zero', 'Months, typically 12.'),
    LastFiscalYearEnd: calendarDay('default', 'End of most recent fiscal year.'),
    LastReportQuarter: calendarDay('default', 'End of most recent quarterly report.'),
    BeneficialOwnerUpdatedAt: stamp('UBO data update.'),
    CompanyInfoUpdatedAt: stamp('Company info update.'),
    FinancialsUpdatedAt: stamp('Primary financials update.'),
    SecondaryFinancialsUpdatedAt: stamp('Secondary financials update.'),
    KeyPeopleUpdatedAt: stamp('Key people update.'),
    OwnersUpdatedAt: stamp('Ownership update.'),
    ContentUpdatedAt: stamp('Overall content update (including relations).'),
    RelationsUpdatedAt: stamp('Relationship data update.'),
    GeneratedAt: dateTime('default', 'When the data schema was last updated; not a content change.'),
  },
)

export const LINKED_IN = object('LinkedIn', 'Profile data from a professional-network source.', {
  Name: text('null', 'Company name on the profile.'),
  Description: text('null', 'Profile description.'),
  Industry: text('null', 'Industry as listed.'),
  Classification: text('null', 'Industry classification label.'),
  ClassificationCode: text('null', 'Industry classification code.'),
  CompanyType: text('null', 'Profile type (for example public or privately held).'),
  CompanyFounded: text('null', 'Year founded.'),
  CompanyWebsite: text('null', 'Website URL.'),
  Country: text('null', 'Country on profile.'),
  Addresses: strings('Office addresses.'),
  NumberOfEmployees: integer('null', 'Employee count.'),
  SizeRange: text('null', 'Employee size range.'),
  Followers: integer('null', 'Follower count.'),
  Keywords: strings('Specialties.'),
  SourceUrl: text('null', 'URL of the profile page.'),
})

/** Declaration of a company: every field with its type and when it is omitted. */
export const COMPANY = object('Company', 'A company profile; a sub-object is omitted when it has no data.', {
  BasicDetails: one(BASIC_DETAILS, 'null', 'Present in full search mode.'),
  EnhancedDetails: one(ENHANCED_DETAILS, 'null', 'Present in full search mode.'),
  MinifiedInfo: one(MINIFIED_INFO, 'null', 'Present in minified search mode.'),
  Financials: financials('Consolidated statements, in the requested currency.'),
  UnconsolidatedFinancials: financials('Parent-only statements, in the requested currency.'),
  MetaData: one(META_DATA, 'null', 'Currency, fiscal year, scale, freshness.'),
  LinkedIn: one(LINKED_IN, 'null', 'Profile data from a professional-network source.'),
  Score: number('null', 'Search relevance; only for text searches.'),
})

/**
 * Always-present fields of a company with the value that an answer has where the record lacks one ("Lists default to empty"). Not
 * among them: InternalId, which no record lacks. The currency is the requested one, unless figures are in an unknown one.
 */
export const alwaysPresent = (currency: string) =>
  ({
    BasicDetails: {
      IndustryCode: { IndustryCodes: [], WeightedGroupIndustryCodes: [] },
      HasReportedMissingUBO: false,
    },
    EnhancedDetails: { HasForeignUltimateParent: false, HasGroupStructure: false },
    MetaData: { CurrentCurrencyCode: currency, FinancialFigureScale: 'None' },
  }) as const

/** The value that {@link alwaysPresent} has at a path, with an unknown currency; `undefined` for every other field. */
export const alwaysPresentAt = (path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => new Map(Object.entries(Object(value))).get(name), alwaysPresent(''))

const OWNERSHIP_FIELDS = {
  OwnershipStake: number('null', 'Ownership percentage; stakes of several kinds or records do not add up.'),
  MinOwnershipStake: number('null', 'Lower bound of a range.'),
  MaxOwnershipStake: number('null', 'Upper bound of a range.'),
  NumberOfShares: number('null', 'Shares held.'),
  NumberOfVotes: number('null', 'Votes held.'),
  MinVotes: number('null', 'Lower bound of votes.'),
  MaxVotes: number('null', 'Upper bound of votes.'),
  ShareClass: text('null', 'Share class identifier.'),
  ProtocolDate: calendarDay('default', 'Date of the ownership protocol/document.'),
  InDate: calendarDay('default', 'Date the ownership became effective.'),
  OutDate: calendarDay('null', 'Date the ownership ended.'),
  UpdatedAt: stamp('Last update.'),
} as const

export const OWNERSHIP = object('Ownership', 'An ownership record.', OWNERSHIP_FIELDS)

export const BENEFICIAL_OWNERSHIP = object('BeneficialOwnership', 'A beneficial-owner record.', {
  ...OWNERSHIP_FIELDS,
  CaseNo: text('null', 'Case number.'),
  RegistrationId: text('null', 'Registration id.'),
  StatusCode: text('null', 'Status code.'),
  SuspicionDate: text('null', 'Date of suspicion.'),
  SuspicionLevel: text('null', 'Level of suspicion.'),
  SuspicionCaseNo: text('null', 'Case number of suspicion.'),
  SuspicionIssueID: text('null', 'Issue of suspicion.'),
  ProxyCompanyRegistrationNumber: text('null', "Proxy company's registration number."),
  ProxyCompanyName: text('null', "Proxy company's name."),
  Text: says('person', text('null', 'Descriptive text.')),
})

export const ROLE = object('Role', 'A board, CEO or other role.', {
  Id: integer('always', 'Role type identifier.'),
  Text: text('null', 'Role title.'),
  Category: text('null', 'Role category.'),
  InDate: calendarDay('default', 'Start of the role.'),
  OutDate: calendarDay('null', 'End of the role.'),
  UpdatedAt: stamp('Last update.'),
})

export const ADDRESS = object('Address', 'An address in relations.', {
  Street: text('null', 'Street and number.'),
  ZipCode: text('null', 'Postal code.'), // sic: `Zipcode` in Addresses
  City: text('null', 'City.'),
  CountryCode: text('null', 'Country code.'),
})

export const RELATION = object('Relation', 'An entity, company or person, in Parents or Children.', {
  InternalId: integer('always', 'Identifier of the related entity.'),
  Name: personal('Full name.', 'entity'),
  FirstName: personal('Person first name.'),
  LastName: personal('Person last name.'),
  OrgNo: says('entity', text('null', 'Company organisation number.')),
  BirthDate: personal('Person date of birth.'),
  NationalIdentificationNumber: personal('Personal national ID.'),
  Gender: says('person', text('null', 'Person gender.')),
  Citizenships: personalStrings('Citizenship country codes.'),
  CountryOfResidences: personalStrings('Residence country codes.'),
  Addresses: personalMany(ADDRESS, 'Registered addresses.'),
  CountryCode: personal('Country code.', 'entity'),
  IsCompany: boolean('null', 'true company, false person.'),
  IsSearchableEntity: boolean('null', 'Whether the entity can be searched in the service.'),
  IsProtected: boolean('null', 'Whether the person has a protected identity.'),
  BeneficialOwnerships: many(BENEFICIAL_OWNERSHIP, 'UBO records; needs subscription authorization.'),
  Ownerships: many(OWNERSHIP, 'Direct ownership records.'),
  UltimateOwnerships: many(OWNERSHIP, 'Ultimate ownership records.'),
  CompanyStructureOwners: many(OWNERSHIP, 'Corporate structure ownership records.'),
  KeyPersonRoles: many(ROLE, 'Board, CEO and other roles.'),
  History: selfList('Historical relationship records; needs subscription authorization.'),
  RegistrationDate: calendarDay('null', 'Entity registration date.'),
  UpdatedAt: stamp('Last update.'),
})

export const UBO_DETAILS = object('UBODetails', 'Beneficial-owner registration summary.', {
  HasReportedMissingUBO: boolean('always', 'Flagged as missing beneficial-owner data.'),
  CaseNo: text('null', 'Case number.'),
  RegistrationId: text('null', 'Registration id.'),
  Status: text('null', 'Status.'),
  SuspicionLevel: text('null', 'Level of suspicion.'),
  SuspicionDate: text('null', 'Date of suspicion.'),
  SuspicionCaseNo: text('null', 'Case number of suspicion.'),
  IsUBOExcluded: boolean('null', 'Whether the company is excluded from registration.'),
})

/** Declaration of a company's relations. */
export const RELATIONS_COMPANY = object('RelationsCompany', "A company's relations.", {
  InternalId: integer('always', 'Company identifier.'),
  Name: text('null', 'Company name.'),
  OrgNo: text('null', 'Organisation number.'),
  CountryCode: text('null', 'ISO country code.'),
  LegalForm: integer('zero', 'Legal form code.', 'LegalForm'),
  OperationalStatus: integer('zero', 'Status code.', 'OperationalStatus'),
  TotalNumberOfShares: number('null', 'Total issued shares.'),
  TotalNumberOfVotes: number('null', 'Total voting rights.'),
  Parents: many(RELATION, 'Entities that own or control the company.'),
  Children: many(RELATION, 'Entities owned or controlled by the company.'),
  UBODetails: one(UBO_DETAILS, 'null', 'Beneficial-owner registration summary.'),
})

/** The two kinds of record and the object each is. */
export const CONTENT = { companies: COMPANY, relations: RELATIONS_COMPANY } as const
/** The two kinds of record. */
export type Content = keyof typeof CONTENT

/** A company as the interface spells it. */
export type Company = ShapeOf<typeof COMPANY>
/** A company's relations as the interface spells them. */
export type RelationsCompany = ShapeOf<typeof RELATIONS_COMPANY>
/** A parent or child of a company, as the interface spells it. */
export type Relation = ShapeOf<typeof RELATION>
export type MinifiedInfo = ShapeOf<typeof MINIFIED_INFO>
