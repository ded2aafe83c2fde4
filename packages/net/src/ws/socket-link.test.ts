import { once } from 'node:events'

import { systemClock } from '@tutti/core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocketServer } from 'ws'

import { guardAround, networkGuard, type NetworkGuard } from '../http/network-guard.ts'
import { SocketLink, type SocketDialect } from './socket-link.ts'

import type { AddressInfo } from 'node:net'

/** Messages are `{ "id": …, "text": … }`. */
const dialect: SocketDialect<string> = {
  greeting: { hello: true },
  read(data) {
    const { id, text }: { id?: string; text: string } = JSON.parse(data.toString())
    return { id, message: text }
  },
  toError: (reason) => (reason instanceof Error ? reason : new Error(String(reason))),
  toHandshakeError: async ({ status }) => new Error(`status ${status}`),
}

/** Starts a server that answers the greeting with a message for `a` and one for all users. */
async function startServer(): Promise<{ readonly url: URL; readonly received: string[] }> {
  const received: string[] = []
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  server.on('connection', (socket) => {
    socket.on('message', (data: Buffer) => {
      received.push(data.toString())
      for (const answer of [{ id: 'a', text: 'one' }, { text: 'all' }]) {
        socket.send(JSON.stringify(answer))
      }
    })
  })
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of server.clients) socket.terminate()
    server.close()
  })
  // NOTE: the address of a TCP server has this type.
  const { port } = server.address() as AddressInfo
  return { url: new URL(`ws://127.0.0.1:${port}/`), received }
}

/** Opens a link for the messages of an id; resolves with its first two messages, or rejects with its end. */
function firstTwo(url: URL, guard: NetworkGuard, id = 'a'): Promise<readonly string[]> {
  const headers = async (): Promise<Record<string, string>> => ({})
  const link = new SocketLink({ url, guard, headers, dialect, clock: systemClock }, () => undefined)
  onTestFinished(() => link.close())
  const texts: string[] = []
  return new Promise((resolve, reject) => {
    link.hold(id, {
      onOpen: () => undefined,
      onBytes: () => undefined,
      onMessage(text) {
        texts.push(text)
        if (texts.length === 2) resolve(texts)
      },
      onEnd: reject,
    })
  })
}

describe('SocketLink', () => {
  it('SocketLink sends the greeting and delivers messages of the id and messages without one', async () => {
    const { url, received } = await startServer()
    expect(await firstTwo(url, guardAround(url))).toEqual(['one', 'all'])
    expect(received).toEqual(['{"hello":true}'])
  })

  it('[NET-K2] SocketLink opens no connection to an address that the guard refuses', async () => {
    const { url, received } = await startServer()
    await expect(firstTwo(url, networkGuard())).rejects.toThrow('Refused to connect')
    expect(received).toEqual([])
  })

  it('[NET-K2] SocketLink opens no connection to a name that resolves to such an address', async () => {
    const { url, received } = await startServer()
    url.hostname = 'inside.example'
    const guard = networkGuard({ resolve: async () => ['127.0.0.1'] })
    await expect(firstTwo(url, guard)).rejects.toThrow('it resolves to 127.0.0.1')
    expect(received).toEqual([])
  })

  it('SocketLink reports a closed port as unreachable', async () => {
    const url = new URL('ws://127.0.0.1:1/')
    await expect(firstTwo(url, guardAround(url))).rejects.toMatchObject({ kind: 'unreachable' })
  })
})
