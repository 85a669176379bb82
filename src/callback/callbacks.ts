import type { Endpoint } from '../wallet/command.js';
import { adjustBalance } from './adjust-balance.js';
import { adjustBets } from './adjust-bets.js';
import type { CallbackType } from './callback-type.js';
import { cancelBets } from './cancel-bets.js';
import { cancelTips } from './cancel-tips.js';
import { checkBalance } from './check-balance.js';
import { placeBets } from './place-bets.js';
import { placeTips } from './place-tips.js';
import { rollback } from './rollback.js';
import { settleBets } from './settle-bets.js';
import { voidSettled } from './void-settled.js';
import { winRewards } from './win-rewards.js';

/**
 * The callbacks of the platform's API. Each is defined in a file of its own. Routes, validators, OpenAPI and metrics
 * are derived from this table.
 */
export const CALLBACKS: { readonly [E in Endpoint]: CallbackType<E> } = {
  checkBalance,
  placeBets,
  settleBets,
  adjustBets,
  voidSettled,
  cancelBets,
  cancelTips,
  placeTips,
  winRewards,
  adjustBalance,
  rollback,
};

export const ENDPOINTS = Object.keys(CALLBACKS) as readonly Endpoint[];
