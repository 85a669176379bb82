/**
 * Currency codes: three letters in ISO 4217, up to ten letters and digits for cryptocurrencies. A metric prefix may be
 * in lower case, as in mBTC and uXBT.
 */
export const CURRENCY = /^[a-zA-Z0-9][A-Z0-9]{2,9}$/;
