import { unreachable } from '../../base/assert.js';
import { isSafeBalance } from '../amount.js';
import { missingRounds, unchangedRounds } from '../archiving.js';
import type { OperationCommand, OperatorCommand } from '../command.js';
import type { Decision } from '../decision.js';
import { hasForgettable } from '../retention.js';
import { isSameSession } from '../state/session.js';
import type { Wallet } from '../state/wallet.js';
import {
  decideApproval,
  decideExpiry,
  decideRefusal,
  decideRequest,
  findRequestAnswer,
  needsApproval,
  type Wish,
} from './approvals.js';
import { applied, failed, repeatedOperation, unchanged } from './operator-answers.js';
import type { Rules } from './rules.js';

/** Decides the operator API's commands (docs/decisions.md section 5). Every operation is safe to repeat. */
export function decideOperator(
  wallet: Wallet | undefined,
  command: OperatorCommand,
  rules: Rules,
  nowMs: number,
): Decision {
  if (command.type === 'create-player') return decideCreate(wallet, command, nowMs);
  if (command.type === 'import-player') return decideImport(wallet, command, rules, nowMs);
  if (wallet === undefined) return failed('user-not-found');
  const stamp = { username: wallet.username, version: wallet.version + 1, timeMs: nowMs };
  switch (command.type) {
    case 'deposit':
    case 'withdraw':
      return decideMovement(wallet, command, rules, nowMs);
    case 'correct':
      return decideCorrection(wallet, command, rules, nowMs);
    case 'approve-request':
      return decideApproval(wallet, command, nowMs);
    case 'refuse-request':
      return decideRefusal(wallet, command, nowMs);
    case 'expire-request':
      return decideExpiry(wallet, command.id, nowMs);
    case 'block-player':
      return wallet.blocked ? unchanged(wallet) : applied(wallet, { type: 'player-blocked', ...stamp, by: command.by });
    case 'unblock-player':
      return wallet.blocked
        ? applied(wallet, { type: 'player-unblocked', ...stamp, by: command.by })
        : unchanged(wallet);
    case 'set-session': {
      const { session, by } = command;
      return isSameSession(wallet.session, session)
        ? unchanged(wallet)
        : applied(wallet, { type: 'session-set', ...stamp, ...session, by });
    }
    case 'end-session':
      return wallet.session === undefined
        ? unchanged(wallet)
        : applied(wallet, { type: 'session-ended', ...stamp, by: command.by });
    case 'forget':
      return hasForgettable(wallet, command.beforeMs)
        ? applied(wallet, { type: 'rounds-forgotten', beforeMs: command.beforeMs, ...stamp })
        : unchanged(wallet);
    case 'archive': {
      const rounds = unchangedRounds(wallet, command.rounds, command.beforeMs);
      if (rounds.length === 0) return unchanged(wallet);
      return applied(wallet, { type: 'rounds-archived', rounds, mark: command.mark, ...stamp });
    }
    case 'restore-rounds': {
      const images = missingRounds(wallet, command.images);
      return images.length === 0 ? unchanged(wallet) : applied(wallet, { type: 'rounds-restored', images, ...stamp });
    }
    default:
      return unreachable(command);
  }
}

function decideCreate(
  wallet: Wallet | undefined,
  command: Extract<OperationCommand, { type: 'create-player' }>,
  nowMs: number,
): Decision {
  const { username, currency, by } = command;
  if (wallet !== undefined) return wallet.currency === currency ? unchanged(wallet) : failed('currency-mismatch');
  return {
    answer: { type: 'accepted', before: 0, after: 0, isRepeat: false },
    event: { type: 'player-created', username, version: 1, timeMs: nowMs, currency, by },
    remarks: [],
  };
}

/**
 * Decides an import. An import never adds money to an existing player; only the import line that created the player is
 * accepted again, as a repeat.
 */
function decideImport(
  wallet: Wallet | undefined,
  command: Extract<OperationCommand, { type: 'import-player' }>,
  rules: Rules,
  nowMs: number,
): Decision {
  const { id, username, currency, balance, by } = command;
  if (wallet !== undefined) {
    if (wallet.currency !== currency) return failed('currency-mismatch');
    const known = wallet.operation(id);
    return known?.type === 'import' && known.amount === balance
      ? repeatedOperation(known)
      : failed('duplicate-transaction');
  }
  if (needsApproval(rules, currency, balance)) return failed('approval-needed');
  return {
    answer: { type: 'accepted', before: 0, after: balance, isRepeat: false },
    event: { type: 'player-imported', username, version: 1, timeMs: nowMs, currency, id, balance, by },
    remarks: [],
  };
}

function decideMovement(
  wallet: Wallet,
  command: Extract<OperationCommand, { type: 'deposit' | 'withdraw' }>,
  rules: Rules,
  nowMs: number,
): Decision {
  const { id, amount, by } = command;
  const kind = command.type === 'deposit' ? 'deposit' : 'withdrawal';
  const wish: Wish = {
    id,
    amount: command.type === 'deposit' ? amount : -amount,
    reason: '',
    allowNegativeBalance: false,
    by,
  };
  const known = wallet.operation(id);
  if (known !== undefined) {
    const answer = findRequestAnswer(known, wish, nowMs);
    if (answer !== undefined) return failed(answer);
    return known.type === kind && known.amount === amount ? repeatedOperation(known) : failed('duplicate-transaction');
  }
  const before = wallet.balance;
  const after = before + wish.amount;
  if (command.type === 'withdraw' && after < 0) return failed('insufficient-balance');
  if (!isSafeBalance(after)) return failed('amount-out-of-range');
  if (needsApproval(rules, wallet.currency, amount)) return decideRequest(wallet, wish, rules, nowMs);
  return {
    answer: { type: 'accepted', before, after, isRepeat: false },
    event: {
      type: command.type === 'deposit' ? 'deposited' : 'withdrawn',
      username: wallet.username,
      version: wallet.version + 1,
      timeMs: nowMs,
      id,
      amount,
      before,
      after,
      by,
    },
    remarks: [],
  };
}

/**
 * Decides a correction. A typing error must not put a player into debt. However, a debt is right if the player has
 * already spent money that was paid by mistake, so `allowNegativeBalance` permits a negative balance. Giving money is
 * always allowed, even if the balance remains negative.
 */
function decideCorrection(
  wallet: Wallet,
  command: Extract<OperationCommand, { type: 'correct' }>,
  rules: Rules,
  nowMs: number,
): Decision {
  const { id, amount, reason, allowNegativeBalance, by } = command;
  const known = wallet.operation(id);
  if (known !== undefined) {
    const answer = findRequestAnswer(known, command, nowMs);
    if (answer !== undefined) return failed(answer);
    const isSame = known.type === 'correction' && known.amount === amount && known.reason === reason;
    return isSame ? repeatedOperation(known) : failed('duplicate-transaction');
  }
  const before = wallet.balance;
  const after = before + amount;
  if (amount < 0 && after < 0 && !allowNegativeBalance) return failed('insufficient-balance');
  if (!isSafeBalance(after)) return failed('amount-out-of-range');
  if (needsApproval(rules, wallet.currency, amount)) {
    return decideRequest(wallet, { id, amount, reason, allowNegativeBalance, by }, rules, nowMs);
  }
  const { username } = wallet;
  const version = wallet.version + 1;
  return {
    answer: { type: 'accepted', before, after, isRepeat: false },
    event: { type: 'corrected', username, version, timeMs: nowMs, id, amount, before, after, reason, by },
    remarks: [],
  };
}
