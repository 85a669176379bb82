/**
 * Currency codes: three letters in ISO 4217; longer, and with digits, for crypto. A metric prefix may be lower case:
 * mBTC, uXBT.
 */
export const CURRENCY = /^[a-zA-Z0-9][A-Z0-9]{2,9}$/;
