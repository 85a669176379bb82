/** Bytes of a valid request with these additional headers. */
export function requestBytes(method: string, target: string, body: Buffer, headers: readonly string[] = []): Buffer {
  return headAndBody(
    [`${method} ${target} HTTP/1.1`, 'Host: localhost', `Content-Length: ${body.length}`, ...headers],
    body,
  );
}

/** The same request in chunks of these sizes, with the rest in the last chunk. */
export function chunkedRequestBytes(target: string, body: Buffer, sizes: readonly number[]): Buffer {
  const chunks: Buffer[] = [];
  let from = 0;
  for (const size of [...sizes, body.length]) {
    const chunk = body.subarray(from, from + size);
    from += chunk.length;
    if (chunk.length > 0) chunks.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'));
  }
  const head = [`POST ${target} HTTP/1.1`, 'Host: localhost', 'Transfer-Encoding: chunked'];
  return headAndBody(head, Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')]));
}

/** Writes the header lines unchanged, one byte per character. */
export function headAndBody(lines: readonly string[], body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body]);
}
