/** A `fetch` for the client of AG-UI in tests that kill the server. */

/** Reports a lost connection as an abort: the client rethrows any other error where no caller can catch it. */
export async function fetchUntilLost(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init)
  const reader = response.body?.getReader()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const read = await reader?.read()
        if (read?.value === undefined) controller.close()
        else controller.enqueue(read.value)
      } catch {
        controller.error(new DOMException('The connection was lost', 'AbortError'))
      }
    },
  })
  return new Response(body, response)
}
