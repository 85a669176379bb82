/** Reads lines of a streamed answer until these are enough. Ends the stream afterwards. */
export async function linesUntil({ body }: Response, areEnough: (lines: readonly string[]) => boolean) {
  const reader = (body as ReadableStream<Uint8Array<ArrayBuffer>>).pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const lines = text.split('\n').slice(0, -1);
    if (areEnough(lines)) {
      await reader.cancel();
      return lines;
    }
    const { done, value } = await reader.read();
    if (done) return lines;
    text += value;
  }
}
