import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Address, AddressList, addressOf, formatAddress, parseAddress } from '../../src/http/address-list.js';

function address(text: string): Address {
  const found = parseAddress(text);
  assert.ok(found, text);
  return found;
}

function listed(list: string, texts: readonly string[]): string[] {
  const parsed = AddressList.parse(list);
  return texts.filter((text) => parsed.has(address(text)));
}

test('lists may contain IPv4 and IPv6 networks and addresses', () => {
  assert.deepEqual(
    listed('10.0.0.0/8, 192.0.2.1 198.51.100.128/25\n203.0.113.7/32', [
      '9.255.255.255',
      '10.0.0.0',
      '10.255.255.255',
      '11.0.0.0',
      '192.0.2.1',
      '192.0.2.2',
      '198.51.100.127',
      '198.51.100.128',
      '203.0.113.7',
      '203.0.113.6',
      '::1',
    ]),
    ['10.0.0.0', '10.255.255.255', '192.0.2.1', '198.51.100.128', '203.0.113.7'],
  );
  assert.deepEqual(
    listed('2001:db8::/32 fd00::/9 ::1', [
      '2001:db8::1',
      '2001:db9::1',
      'fd7f::1',
      'fd80::1',
      '::1',
      '::2',
      '10.0.0.1',
    ]),
    ['2001:db8::1', 'fd7f::1', '::1'],
  );
});

test('/0 matches everything in its address family and nothing in the other', () => {
  assert.deepEqual(listed('0.0.0.0/0', ['1.2.3.4', '::1', '::ffff:1.2.3.4']), ['1.2.3.4', '::ffff:1.2.3.4']);
  assert.deepEqual(listed('::/0', ['1.2.3.4', '::1', '::ffff:1.2.3.4']), ['::1']);
});

test('an IPv4-mapped IPv6 address counts as IPv4, in lists and at sockets', () => {
  assert.deepEqual(listed('10.0.0.0/8', ['::ffff:10.1.2.3', '::ffff:a01:203', '::ffff:11.0.0.1']), [
    '::ffff:10.1.2.3',
    '::ffff:a01:203',
  ]);
  assert.deepEqual(listed('::ffff:10.0.0.0/104', ['10.1.2.3', '11.1.2.3']), ['10.1.2.3']);
  const socket = Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 1, 2, 3]);
  assert.equal(AddressList.parse('10.1.2.3').has(addressOf(socket) as Address), true);
  assert.equal(formatAddress(addressOf(socket) as Address), '10.1.2.3');
  assert.equal(addressOf(new Uint8Array(0)), undefined);
});

test('only the standard notation of an address is accepted', () => {
  for (const text of ['127.1', '0x7f.0.0.1', '010.0.0.1', '1.2.3', '1.2.3.4.5', 'fe80::1%eth0', 'localhost', '', ' ']) {
    assert.equal(parseAddress(text), undefined, text);
  }
});

test('the refusal of an invalid list names the invalid word', () => {
  for (const [list, sentence] of [
    ['10.0.0.0/8, here', 'here is neither an address nor a network such as 10.0.0.0/8'],
    ['10.0.0.0/33', '10.0.0.0/33 cannot have a prefix of 33 bits'],
    ['2001:db8::/129', '2001:db8::/129 cannot have a prefix of 129 bits'],
    ['10.0.0.0/', '10.0.0.0/ is neither an address nor a network such as 10.0.0.0/8'],
    ['10.0.0.0/-1', '10.0.0.0/-1 is neither an address nor a network such as 10.0.0.0/8'],
    ['::ffff:10.0.0.0/8', '::ffff:10.0.0.0/8 cannot have a prefix of 8 bits'],
    ['10.0.0.5/8', '10.0.0.5/8 has bits after its prefix: 10.0.0.0/8 is the network'],
  ] as const) {
    assert.throws(() => AddressList.parse(list), { message: sentence });
  }
});
