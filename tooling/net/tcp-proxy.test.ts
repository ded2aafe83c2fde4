import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'

import { expect, test } from 'vitest'

import { tcpProxy } from './tcp-proxy.ts'

test('A TCP proxy loses the replies from the next matching request on, and then breaks the connection', async () => {
  const requests: string[] = []
  const server = createServer((socket) => {
    socket.on('data', (data) => {
      requests.push(data.toString())
      socket.write(`reply to ${data.toString()}`)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  // NOTE: a listening server has an address of this shape.
  const { port } = server.address() as AddressInfo
  {
    await using proxy = await tcpProxy(`tcp://127.0.0.1:${port}`)
    const client = connect(Number(new URL(proxy.url).port), '127.0.0.1')
    const replies: string[] = []
    const isClosed = once(client, 'close')
    client.on('data', (data) => replies.push(data.toString()))
    const send = async (request: string): Promise<void> => {
      client.write(request)
      await expect.poll(() => requests.at(-1)).toBe(request)
    }
    await send('one')
    await expect.poll(() => replies).toEqual(['reply to one'])
    const { promise, resolve } = Promise.withResolvers<void>()
    const isOver = proxy.loseReplies('COMMIT', promise)
    await send('two')
    await expect.poll(() => replies).toEqual(['reply to one', 'reply to two'])
    await send('COMMIT')
    await send('three')
    resolve()
    await Promise.all([isOver, isClosed])
    expect(replies).toEqual(['reply to one', 'reply to two'])
  }
  server.close()
})
