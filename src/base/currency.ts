/**
 * Currency codes: three letters in ISO 4217; more, and digits, for crypto. A metric prefix may be a small letter: mBTC, uXBT.
 */
export const CURRENCY = /^[a-zA-Z0-9][A-Z0-9]{2,9}$/;
