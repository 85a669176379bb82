/** What a currency looks like: ISO 4217 codes have three letters; crypto codes have more, and digits. */
export const CURRENCY = /^[A-Z0-9]{3,10}$/;
