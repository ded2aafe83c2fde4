import { describe, expect, it } from 'vitest'

import { readRequest } from './read-request.ts'

const CHUNK = 100

/** A request whose body is sent in chunks as long as the reader requests them. */
function sending(chunks: number) {
  const taken = { bytes: 0 }
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (taken.bytes >= chunks * CHUNK) {
          controller.close()
          return
        }
        taken.bytes += CHUNK
        controller.enqueue(new TextEncoder().encode(' '.repeat(CHUNK - 1) + '1'))
      },
    },
    { highWaterMark: 0 },
  )
  const headers = { 'content-type': 'application/json' }
  // Node requires `duplex: half`: the response is read only after the whole body is sent.
  const sent = { method: 'POST', body, headers, duplex: 'half' }
  const request = new Request('http://a.b', sent)
  return { request, taken }
}

describe('readRequest', () => {
  it('readRequest reads JSON up to the limit', async () => {
    const { request } = sending(1)
    expect(await readRequest(request, CHUNK)).toEqual({ ok: true, value: 1 })
  })

  it('readRequest reads a body that is too long to its end, so that the client can read the answer', async () => {
    const { request, taken } = sending(5)
    await expect(readRequest(request, CHUNK)).rejects.toThrow('must be at most 100 bytes')
    expect(taken.bytes).toBe(5 * CHUNK)
  })

  it('readRequest stops reading an endless body', async () => {
    const { request, taken } = sending(Infinity)
    await expect(readRequest(request, CHUNK)).rejects.toThrow('must be at most 100 bytes')
    expect(taken.bytes).toBeLessThan(20 * CHUNK)
  })

  it('readRequest returns undefined for a request without a body', async () => {
    const request = new Request('http://a.b', { method: 'POST' })
    expect(await readRequest(request, CHUNK)).toBeUndefined()
  })

  it.each([null, 'text/plain', 'multipart/form-data; boundary=a'])(
    'readRequest rejects a body with the content type %s',
    async (type) => {
      const body = new TextEncoder().encode('{}')
      const headers = type === null ? {} : { 'content-type': type }
      const request = new Request('http://a.b', { method: 'POST', body, headers })
      await expect(readRequest(request, CHUNK)).rejects.toMatchObject({
        code: 'UNSUPPORTED_MEDIA_TYPE',
      })
    },
  )
})
