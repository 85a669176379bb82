import type { Element, Message } from '../../src/simulate/message.js';
import { type Answer, describeAnswer } from './answer.js';
import type { Step } from './step.js';
import type { Violation } from './violation.js';

/** Fields that are the same in nearly every message, or that are described separately. */
const OMITTED_FIELDS = [
  'gameCode',
  'playInfo',
  'turnOver',
  'status',
  'isSingleState',
  'transactionType',
  'id',
  'refId',
  'roundId',
];

/** Formats a history with one line per message: its request, elements and answers. */
export function describeHistory(
  steps: readonly Step[],
  answers: readonly (readonly Answer[])[],
  { promised, detail }: Violation,
): string {
  const lines = steps.flatMap((step, i) => linesOf(step, answers[i] ?? []));
  return [...lines, `  broken: ${promised}`, `  ${detail.replaceAll('\n', '\n  ')}`].join('\n');
}

function linesOf(step: Step, answers: readonly Answer[]): string[] {
  switch (step.type) {
    case 'pause':
      return [`  pause ${step.ms} ms`];
    case 'send': {
      const how = step.delivery === 'once' ? '' : `, ${step.delivery}`;
      return [`  send${how} ${describeMessage(step.message)}: ${answers.map(describeAnswer).join(' and ')}`];
    }
    case 'repeat':
      return step.messages.map((message, i) => {
        const answer = answers[i];
        return `  REPEAT ${describeMessage(message)}: ${answer === undefined ? 'not sent' : describeAnswer(answer)}`;
      });
  }
}

export function describeMessage({ endpoint, number, txns, envelope }: Message): string {
  const product = envelope.productId === undefined ? '' : ` ${envelope.productId}`;
  return `q${number}${product} ${endpoint} ${txns.map(describeElement).join(' + ')}`;
}

function describeElement(txn: Element): string {
  const { id, refId, roundId, status, transactionType, isSingleState } = txn;
  const name = [id ?? refId, roundId].filter((one) => one !== undefined).join('/');
  const words = [
    ...(status === 'WAITING' || status === 'DEBIT' || status === 'CREDIT' ? [status] : []),
    ...(transactionType === 'BY_ROUND' ? ['BY_ROUND'] : []),
    ...(isSingleState === true ? ['single-state'] : []),
    ...Object.entries(txn).flatMap(([field, value]) => {
      if (OMITTED_FIELDS.includes(field) || value === false) return [];
      return [value === true ? field : `${field} ${value}`];
    }),
  ];
  return `[${[name, ...words].join(' ')}]`;
}
