import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { object, string } from '../../base/json-schema.js';
import type { Authentication } from '../authentication.js';
import { Problem } from '../problem.js';
import { findBenchmarkReport } from './benchmark-report.js';
import type { LiveFeed } from './live-feed.js';
import { type PageFile, readPageFiles } from './page-files.js';

const TOKEN_LENGTH_MAX = 4096;
const PAGE = 'index.html';
/**
 * The browser executes and shows only files of the console itself, no other site can embed the console in a frame, and
 * no address with a player's name leaks in a Referer header.
 */
const HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};
const tokenBody = object(
  { token: string({ minLength: 1, maxLength: TOKEN_LENGTH_MAX, message: 'must be the token of an operator' }) },
  {},
  { additionalProperties: false },
);

/**
 * Adds the console: its page, its sessions and its live feed. Everything else uses the operator API, with the session
 * instead of a token.
 */
export function addConsole(app: FastifyInstance, authentication: Authentication, feed: LiveFeed): void {
  let files: ReadonlyMap<string, PageFile> | undefined;

  app.get('/', open('GET /'), (_request, reply) => reply.redirect('/console/', 302));

  app.get('/console', open('GET /console'), (_request, reply) => reply.redirect('/console/', 308));

  app.get('/console/session', open('GET /console/session'), async (request, reply) => {
    reply.header('Cache-Control', 'no-store');
    const visitor = authentication.findVisitor(request);
    if (visitor === undefined) throw new Problem(401, 'sign in with the token of an operator', 'unauthorized');
    return visitor;
  });

  app.post<{ Body: { token: string } }>(
    '/console/session',
    { ...open('POST /console/session'), schema: { body: tokenBody } },
    async (request, reply) => {
      const { setCookie, visitor } = authentication.signIn(request, request.body.token);
      reply.header('Cache-Control', 'no-store').header('Set-Cookie', setCookie);
      return visitor;
    },
  );

  app.delete('/console/session', open('DELETE /console/session'), async (request, reply) => {
    reply.header('Set-Cookie', authentication.signOut(request));
    return {};
  });

  app.get('/console/live', named('GET /console/live'), (_request, reply) => {
    feed.join(reply.raw);
    reply.hijack();
  });

  app.get('/console/benchmark-report', named('GET /console/benchmark-report'), async (_request, reply) => {
    const report = await findBenchmarkReport();
    if (report === undefined) throw new Problem(404, 'there is no report: npm run bench writes one', 'not-found');
    // The report has its own styles and may be years old. It is offered only as a download, so that nothing in it can
    // run in the console.
    return reply
      .headers({ ...HEADERS, 'Content-Security-Policy': "default-src 'none'; sandbox; frame-ancestors 'none'" })
      .header('Content-Disposition', 'attachment; filename="walletd-benchmarks.html"')
      .header('Cache-Control', 'no-store')
      .type('text/html; charset=utf-8')
      .send(report);
  });

  app.get<{ Params: { name: string } }>('/console/assets/:name', open('GET /console/assets'), (request, reply) => {
    const file = pageFiles().get(request.params.name);
    if (file === undefined) throw new Problem(404, 'there is no such file: reload the page', 'not-found');
    // Cache the file forever, because its name changes with its content.
    reply.header('Cache-Control', 'public, max-age=31536000, immutable');
    return send(request, reply, file);
  });

  // Every view has its own address. Only the page knows which addresses are valid.
  app.get('/console/*', open('GET /console/*'), (request, reply) => {
    const page = pageFiles().get(PAGE);
    if (page === undefined) throw new Problem(404, 'the console has not been built: npm run build', 'not-found');
    reply.header('Cache-Control', 'no-cache');
    return send(request, reply, page);
  });

  function pageFiles(): ReadonlyMap<string, PageFile> {
    files ??= readPageFiles();
    return files;
  }
}

const named = (route: string) => ({ config: { route } });
/** The page is open to everyone. Its data comes from the API, which requires authentication. */
const open = (route: string) => ({ config: { route, isOpen: true } }) as const;

function send(request: FastifyRequest, reply: FastifyReply, { type, plain, gzipped }: PageFile): FastifyReply {
  const isPacked = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
  reply.headers(HEADERS).header('Vary', 'Accept-Encoding').type(type);
  if (isPacked) reply.header('Content-Encoding', 'gzip');
  return reply.send(isPacked ? gzipped : plain);
}
