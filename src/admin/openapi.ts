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
  403: 'The operator may not: the role of the token does not allow it, or a limit is in the way',
  404: 'There is no such thing',
  409: 'It contradicts what is there',
  413: 'The body is too large',
  415: 'Content-Type is not one that is read',
  429: 'It was too often, or too many wait: come again in a minute',
  500: 'A fault of ours',
  503: 'Not now: it may be repeated',
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
