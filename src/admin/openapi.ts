import { asPublished, type ObjectSchema, type Properties } from '../base/json-schema.js';
import type { Route } from './route.js';
import { problemSchema } from './schemas.js';

/** OpenAPI description of an answer with a JSON body. */
export function answer(description: string, schema: object, type = 'application/json'): object {
  return { description, content: { [type]: { schema } } };
}

const PROBLEMS: Readonly<Record<number, string>> = {
  400: 'The request is not valid',
  401: 'The token is missing or wrong',
  403: 'Not allowed by the role of the token or by a limit',
  404: 'Not found',
  409: 'The request conflicts with the current state',
  413: 'The body is too large',
  415: 'The Content-Type is not supported',
  429: 'Too many requests, or too many pending approvals: try again in a minute',
  500: 'Internal error',
  503: 'Temporarily unavailable: the request may be repeated',
};
/** Problems that can occur in every operation with a token. */
const ALWAYS = [401, 429, 500, 503];

/** The operator API's operations as OpenAPI paths, with the same schemas that validate requests. */
export function operatorPaths(routes: readonly Route[]): Record<string, Record<string, object>> {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) };
  }
  return paths;
}

function operation(route: Route): object {
  const { operationId, tag, summary, params, query, responses, problems = [], isOpen } = route;
  const parameters = [...parametersOf(params, 'path'), ...parametersOf(query, 'query')];
  const body = bodyOf(route);
  const statuses = (isOpen ? [400] : [...ALWAYS, ...problems]).filter((status) => !(status in responses));
  return {
    operationId,
    tags: [tag],
    summary,
    ...(isOpen && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: { required: true, content: body } }),
    responses: {
      ...responses,
      ...Object.fromEntries(
        statuses.map((status) => [
          status,
          answer(PROBLEMS[status] as string, problemSchema, 'application/problem+json'),
        ]),
      ),
    },
  };
}

function parametersOf({ properties, required }: ObjectSchema, place: 'path' | 'query'): object[] {
  return Object.entries(properties as Properties).map(([name, schema]) => {
    const { description, ...rest } = asPublished(schema) as { description?: string };
    return {
      name,
      in: place,
      ...((required as string[]).includes(name) && { required: true }),
      schema: rest,
      ...(description !== undefined && { description }),
    };
  });
}

function bodyOf({ body, lines }: Route): object | undefined {
  if (lines !== undefined) return { 'application/x-ndjson': { schema: asPublished(lines) } };
  return body && { 'application/json': { schema: asPublished(body) } };
}
