import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError } from '../../src/config/config-error.js';
import { aliasesOf } from '../../src/node/settings/aliases.js';

const of = (aliases: Record<string, string>) =>
  aliasesOf({ callbacks: { aliases, prefix: null, strict: null, reason: null } });

function refused(path: string, target: string): string {
  try {
    of({ [path]: target });
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message;
  }
  return '';
}

test('an alias leads to its endpoint', () => {
  assert.deepEqual([...of({})], []);
  assert.deepEqual(
    [...of({ '/bet': 'placeBets', '/v2/bet': 'placeBets' })],
    [
      ['/bet', 'placeBets'],
      ['/v2/bet', 'placeBets'],
    ],
  );
});

test('an alias with an unknown endpoint or an invalid path prevents the start', () => {
  assert.match(
    refused('/bet', 'placeBet'),
    /^callbacks\.aliases has \/bet for "placeBet", which is not an endpoint: the endpoints are /,
  );
  assert.match(refused('/bet', '__proto__'), /which is not an endpoint/);
  assert.match(refused('/placeBets', 'settleBets'), /which is itself an endpoint$/);
  for (const path of ['', '/', 'bet', '/bet/', '//bet', '/:bet', '/*', '/b?t', '/b t', '/b%74']) {
    assert.match(refused(path, 'placeBets'), /: a path is letters, digits/, path);
  }
});
