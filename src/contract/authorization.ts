/** The parts of relations that a subscription may see ("Data filtering by authorization"), per country. */

/** Each area and the field of a relation that it opens; hidden-person access opens no field but unmasks. */
export const AREA_FIELDS = {
  'Beneficial Owner': 'BeneficialOwnerships',
  Owner: 'Ownerships',
  'Company Structure Owner': 'CompanyStructureOwners',
  'Key Person': 'KeyPersonRoles',
  'Relations History': 'History',
  'Hidden Person Access': null,
} as const
export type Area = keyof typeof AREA_FIELDS
export const AREAS = Object.keys(AREA_FIELDS) as readonly Area[]

/** Masked for every caller where `IsProtected` is true. */
export const ALWAYS_MASKED = [
  'BirthDate',
  'CountryCode',
  'Addresses',
  'Citizenships',
  'CountryOfResidences',
] as const
/** Masked too, unless the caller has hidden-person access. */
export const MASKED_WITHOUT_ACCESS = [
  'Name',
  'FirstName',
  'LastName',
  'NationalIdentificationNumber',
] as const
/** Texts beside a person, by the field that holds their records: masked as a name is. */
export const MASKED_STRINGS: Readonly<Record<string, readonly string[]>> = {
  BeneficialOwnerships: ['Text'],
  KeyPersonRoles: ['Text'],
}

/**
 * Fields of a company's record that say who owns it, where the company is one person's own, by the record's objects: absent for every
 * caller where the person is protected. The country stays: by it the record is found, and authorization goes by it.
 */
export const OWN_FIELDS: Readonly<Record<string, readonly string[]>> = {
  Company: ['LinkedIn'],
  BasicDetails: ['Address', 'Email', 'Phone'],
}
/** Absent too, unless the caller has hidden-person access. */
export const OWN_FIELDS_WITHOUT_ACCESS: Readonly<Record<string, readonly string[]>> = {
  RelationsCompany: ['Name', 'OrgNo'],
  BasicDetails: [
    ...['CompanyName', 'OrgNo', 'VATNumber', 'PreviousNames', 'Signatory'],
    ...['URL', 'AdditionalUrls', 'Description'],
  ],
  EnhancedDetails: [
    ...['PrivateEquityOwner', 'UltimateParentOrgNo', 'UltimateParentCompanyName'],
    ...['URL', 'AdditionalUrls', 'Keywords', 'WebsiteSummary'],
  ],
  MinifiedInfo: ['CompanyName', 'OrgNo', 'UltimateParentOrgNo', 'Url'],
}
