import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { AddressError, parsePostgresAddress } from '../../src/store/postgres/postgres-address.js';
import { inTempFolder } from '../support/temp-folder.js';

test('a PostgreSQL address names the server, database and user', () => {
  assert.deepEqual(parsePostgresAddress('postgres://walletd:p%40%2Fss%25@10.0.0.1:6000/books'), {
    name: 'postgres://10.0.0.1:6000/books',
    login: {
      user: 'walletd',
      password: 'p@/ss%',
      host: '10.0.0.1',
      port: 6000,
      database: 'books',
      ssl: false,
      application_name: 'walletd',
    },
  });
  const { name, login } = parsePostgresAddress('postgresql://[::1]/b%2Fs');
  assert.equal(name, 'postgres://[::1]:5432/b/s');
  assert.deepEqual([login.host, login.port, login.database, login.user], ['::1', 5432, 'b/s', undefined]);
  const socket = parsePostgresAddress('postgres://u@localhost/b?host=%2Frun%2Fpg&application_name=a@b');
  assert.equal(socket.name, 'postgres://%2Frun%2Fpg/b');
  assert.deepEqual([socket.login.host, socket.login.application_name], ['/run/pg', 'a@b']);
  assert.equal(parsePostgresAddress('postgres://%2Frun%2Fpg/b').login.host, '/run/pg');
});

test('sslmode decides whether TLS is used and what is verified', () =>
  inTempFolder(async (folder) => {
    const ca = `${folder}/ca.pem`;
    writeFileSync(ca, '\uFEFFa certificate');
    const tls = (query: string) => parsePostgresAddress(`postgres://h/b${query}`).login.ssl;
    assert.equal(tls(''), false);
    assert.equal(tls('?sslmode=disable'), false);
    assert.deepEqual(tls('?sslmode=no-verify'), { rejectUnauthorized: false });
    for (const mode of ['require', 'verify-ca', 'verify-full']) {
      assert.deepEqual(tls(`?sslmode=${mode}`), { rejectUnauthorized: true }, mode);
    }
    const file = encodeURIComponent(ca);
    assert.deepEqual(tls(`?sslrootcert=${file}`), { rejectUnauthorized: true, ca: 'a certificate' });
    assert.deepEqual(tls(`?sslcert=${file}&sslkey=${file}`), {
      rejectUnauthorized: true,
      cert: 'a certificate',
      key: 'a certificate',
    });
  }));

test('the refusal of an address names the faulty part and hides the password', () => {
  for (const [address, part] of [
    ['mysql://u:hush@h/b', /must begin with postgres:\/\//],
    ['postgres://walletd:hush/hush@127.0.0.1:5432/w', /user or password contains an unescaped \/.*write %2F/],
    ['postgres://walletd:hush?hush@127.0.0.1:5432/w', /user or password contains an unescaped \?.*write %3F/],
    ['postgres://walletd:hush#hush@127.0.0.1:5432/w', /user or password contains an unescaped #.*write %23/],
    ['postgres://walletd:hush@hush@127.0.0.1:5432/w', /user or password contains an unescaped @.*write %40/],
    ['postgres://walletd:hush@hush/hush@127.0.0.1:5432/w', /user or password contains an unescaped @ or \//],
    ['postgres://walletd:hush%hush@127.0.0.1:5432/w', /password contains an unescaped %.*write %25/],
    ['postgres://walletd:hush%E0@127.0.0.1:5432/w', /password contains an unescaped %/],
    ['postgres://:hush@h/b', /no user/],
    ['postgres://u:hush@h', /has no database/],
    ['postgres://u:hush@h/', /has no database/],
    ['postgres://u:hush@h/b/c', /write one name after the host/],
    ['postgres://u:hush@/b', /has no host/],
    ['postgres://u:hush@ h/b', /host contains a blank/],
    ['postgres://u:hush@::1/b', /IPv6 address needs brackets/],
    ['postgres://u:hush@h:0/b', /port must be a number/],
    ['postgres://u:hush@h:70000/b', /port must be a number/],
    ['postgres://u:hush@h:port/b', /port must be a number/],
    ['postgres://u:hush@h1:5432,h2:5432/b', /several servers/],
    ['postgres://u:hush@h/b#hush', /unescaped #/],
    ['postgres://u:hush@h/b?sslmode=prefer', /sslmode must be one of disable/],
    ['postgres://u:hush@h/b?sslmode=', /sslmode must be one of disable/],
    ['postgres://u:hush@h/b?ssl=true', /parameter that walletd does not support/],
    ['postgres://u:hush@h/b?sslmode=disable&sslrootcert=x', /contradict/],
    ['postgres://u:hush@h/b?sslmode=require&sslcert=x', /belong together/],
    ['postgres://u:hush@h/b?sslrootcert=/nowhere.pem', /cannot read \/nowhere\.pem \(its sslrootcert\)/],
  ] as const) {
    assert.throws(
      () => parsePostgresAddress(address),
      (error: unknown) => {
        assert.ok(error instanceof AddressError, address);
        assert.match(error.message, part, address);
        assert.doesNotMatch(error.message, /hush/, address);
        return true;
      },
    );
  }
});
