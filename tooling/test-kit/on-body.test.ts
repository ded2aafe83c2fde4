import { createServer, type RequestListener } from 'node:http'
import { connect, type AddressInfo } from 'node:net'

import { expect, it, onTestFinished } from 'vitest'

import { onBody } from './on-body.ts'

/** Starts a server and returns its port. */
async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  // NOTE: the address of a TCP server has this type.
  return (server.address() as AddressInfo).port
}

it('onBody passes on the body as text and as bytes', async () => {
  const port = await serve((request, response) => {
    onBody(request, (body, bytes) => response.end(`${body} has ${bytes.length} bytes`))
  })
  const response = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: 'käse' })
  expect(await response.text()).toBe('käse has 5 bytes')
})

it('onBody ignores a request whose client disconnects before its end', async () => {
  const bodies: string[] = []
  const closed = Promise.withResolvers<void>()
  const port = await serve((request) => {
    onBody(request, (body) => bodies.push(body))
    request.on('close', closed.resolve)
  })
  const socket = connect(port, '127.0.0.1')
  socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nhalf', () =>
    socket.destroy(),
  )
  await closed.promise
  // An unhandled rejection would fail this test.
  await new Promise(setImmediate)
  expect(bodies).toEqual([])
})
