/** Reads the requests of test servers. */
import { buffer } from 'node:stream/consumers'

import type { IncomingMessage } from 'node:http'

/**
 * Calls `use` with the whole body of a request, as UTF-8 and as bytes. A client may disconnect before: a
 * test may end at any time, and its server is then closed.
 */
export function onBody(
  request: IncomingMessage,
  use: (body: string, bytes: Buffer) => unknown,
): void {
  void buffer(request).then(
    (bytes) => use(bytes.toString(), bytes),
    (error: unknown) => {
      if (request.complete) throw error
    },
  )
}
