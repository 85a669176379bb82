/** Kinds of findings, the worst first. */
export const HEADINGS = {
  crash: { title: "The operator's process ends", says: 'a request ends it', short: 'crash' },
  money: { title: 'Money is wrong', says: "a balance does not follow the operator's own answers", short: 'money' },
  interface: {
    title: 'The interface is broken',
    says: 'a field, a code or the form of an answer is wrong',
    short: 'interface',
  },
  decision: {
    title: 'Decided otherwise than walletd does',
    says: 'other requests are accepted or refused, and the balance is consistent',
    short: 'decided otherwise',
  },
} as const;

export type Heading = keyof typeof HEADINGS;

export const HEADING_NAMES = Object.keys(HEADINGS) as Heading[];
