import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

import { describe, expect, it } from 'vitest'

import { UnreadData } from './unread-data.ts'

/** Larger than the buffers of two sockets on loopback. */
const LARGE = Buffer.alloc(16_000_000)

/** Opens a connection whose client does not read. */
async function unread(): Promise<{ readonly near: Socket; readonly close: () => void }> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const reader = connect((server.address() as AddressInfo).port, '127.0.0.1')
  reader.pause().on('error', () => undefined)
  const [near] = (await once(server, 'connection')) as [Socket]
  near.on('error', () => undefined)
  return {
    near,
    close: () => {
      reader.destroy()
      near.destroy()
      server.close()
    },
  }
}

describe('UnreadData', () => {
  it('[API-U1] UnreadData closes only the connection with the most unsent data when the limit is exceeded', async () => {
    const connections = await Promise.all([unread(), unread(), unread()])
    let dropped = 0
    const data = new UnreadData({
      maxUnreadBytes: 40_000_000,
      elapsed: () => 0,
      onDrop: () => {
        dropped += 1
      },
    })
    for (const { near } of connections) data.add(near)
    const [first, second, third] = connections.map(({ near }) => near)
    first?.write(LARGE)
    second?.write(LARGE)
    second?.write(LARGE)
    data.makeRoom()
    expect(dropped).toBe(1)
    expect([first?.destroyed, second?.destroyed, third?.destroyed]).toEqual([false, true, false])
    for (const { close } of connections) close()
  })

  it('UnreadData checks the connections at most every 50 ms', async () => {
    const { near, close } = await unread()
    let now = 0
    const data = new UnreadData({ maxUnreadBytes: 1, elapsed: () => now, onDrop: () => undefined })
    data.add(near)
    data.check()
    near.write(LARGE)
    data.check()
    expect(near.destroyed).toBe(false)
    now = 50
    data.check()
    expect(near.destroyed).toBe(true)
    close()
  })
})
