import { withUrl } from './to-response.ts'

/** The same response, with `onBytes` called for each piece of its body when it is there to be read. */
export function watchBytes(response: Response, onBytes: () => void): Response {
  if (response.body === null) return response
  const reader = response.body.getReader()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) {
          controller.close()
          return
        }
        onBytes()
        controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
  const { status, statusText, headers, url } = response
  return withUrl(new Response(body, { status, statusText, headers }), url)
}
