import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

export interface Operation {
  readonly operationId: string;
  readonly security?: readonly object[];
  readonly requestBody?: { readonly content: Record<string, { schema: object }> };
  readonly responses: Record<string, { readonly content?: Record<string, { schema: object }> }>;
}

export const METHODS = ['get', 'put', 'post', 'delete', 'patch'];
export const NDJSON = 'application/x-ndjson';

/** Parts of an answer that the OpenAPI document describes. */
export interface HttpAnswer {
  readonly status: number;
  /** The Content-Type header; empty if absent. */
  readonly contentType: string;
  readonly text: string;
}

/** A walletd's OpenAPI document, which validates requests and answers against its own schemas. */
export class OpenApiDocument {
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true });
  private readonly compiled = new Map<string, ValidateFunction>();

  constructor(readonly content: { readonly paths: Record<string, Record<string, Operation>> }) {
    this.ajv.addSchema(content, 'document');
  }

  static async of(adminUrl: string, headers: Record<string, string> = {}): Promise<OpenApiDocument> {
    const response = await fetch(`${adminUrl}/openapi.json`, { headers });
    return new OpenApiDocument((await response.json()) as OpenApiDocument['content']);
  }

  /** The schema at the path formed by these keys. */
  schemaAt(...path: readonly string[]): ValidateFunction {
    const pointer = path.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
    const validate = this.compiled.get(pointer) ?? this.ajv.compile({ $ref: `document#/${pointer}` });
    this.compiled.set(pointer, validate);
    return validate;
  }

  /**
   * Describes how an answer to this operation violates the document; undefined if it conforms. `path` is the path in
   * the document.
   */
  findComplaint(method: string, path: string, { status, contentType, text }: HttpAnswer): string | undefined {
    const operation = this.content.paths[path]?.[method];
    if (operation === undefined) return `${method} ${path} is not in the document`;
    const at = `${operation.operationId} ${status}`;
    const content = operation.responses[status]?.content;
    if (content === undefined) return `${at} is not in the document`;
    const type = contentType.split(';')[0] as string;
    if (!(type in content)) return `${at} is ${type}`;
    const schema = this.schemaAt('paths', path, method, 'responses', String(status), 'content', type, 'schema');
    for (const body of tryParseBodies(type, text) ?? [undefined]) {
      if (!schema(body)) return `${at}: ${JSON.stringify(body)}: ${JSON.stringify(schema.errors)}`;
    }
    return undefined;
  }
}

/** Parses the body's JSON values; undefined if the body should be JSON but is not. */
function tryParseBodies(type: string, text: string): unknown[] | undefined {
  if (type === 'text/plain') return [text];
  const texts = type === NDJSON ? text.trimEnd().split('\n') : [text];
  try {
    return texts.map((one) => JSON.parse(one));
  } catch {
    return undefined;
  }
}
