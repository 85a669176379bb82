/**
 * What a currency looks like: ISO 4217 codes have three letters; crypto codes have more, and digits, and the first letter of a part
 * of one may be small: mBTC, uXBT.
 */
export const CURRENCY = /^[a-zA-Z0-9][A-Z0-9]{2,9}$/;
