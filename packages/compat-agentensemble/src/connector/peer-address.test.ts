import { describe, expect, it } from 'vitest'

import { readPeerAddress, type PeerAddressOptions } from './peer-address.ts'

function read(given: string, options?: PeerAddressOptions): object {
  const { socketUrl, ...rest } = readPeerAddress(given, options)
  return { socketUrl: socketUrl.href, ...rest }
}

describe('readPeerAddress', () => {
  it.each<[string, object]>([
    ['wss://host#task:a', { socketUrl: 'wss://host/ws', kind: 'task', name: 'a' }],
    ['wss://host/#tool:a', { socketUrl: 'wss://host/ws', kind: 'tool', name: 'a' }],
    ['wss://host:8443/x/y#a', { socketUrl: 'wss://host:8443/x/y', kind: undefined, name: 'a' }],
    ['wss://host/ws#task:a%20b:c%23', { kind: 'task', name: 'a b:c#' }],
    ['wss://host/ws#100%', { kind: undefined, name: '100%' }],
    ['WSS://HOST/ws#Task', { socketUrl: 'wss://host/ws', kind: undefined, name: 'Task' }],
    ['ws://127.0.0.1:1/ws#a', { socketUrl: 'ws://127.0.0.1:1/ws' }],
    ['ws://localhost#a', { socketUrl: 'ws://localhost/ws' }],
  ])('readPeerAddress parses %s', (given, address) => {
    expect(read(given)).toMatchObject(address)
  })

  it('readPeerAddress omits the login and the query from the shown URI', () => {
    expect(read('wss://me:s%20c@host/x?key=1#task:a')).toEqual({
      socketUrl: 'wss://host/x?key=1',
      login: `Basic ${Buffer.from('me:s c').toString('base64')}`,
      uri: 'wss://host/x#task:a',
      name: 'a',
      kind: 'task',
    })
  })

  it('readPeerAddress takes the kind from the options when the address has none', () => {
    expect(read('wss://host#a', { kind: 'tool' })).toMatchObject({ kind: 'tool' })
    expect(read('wss://host#tool:a', { kind: 'tool' })).toMatchObject({ kind: 'tool' })
  })

  it.each<[string, PeerAddressOptions, string]>([
    ['https://host#a', {}, 'Invalid peer address: expected a wss: URL with a #name'],
    ['host#a', {}, 'Invalid peer address: expected a wss: URL with a #name'],
    [
      'wss://me:secret@host/x?key=1',
      {},
      'Cannot ask the peer at "wss://host/x": its address must end with the requested item, such as #task:name or #tool:name',
    ],
    ['wss://host/x#task:%20', {}, 'its address must end with'],
    [
      'wss://host/x#task:a',
      { kind: 'tool' },
      'Cannot ask the peer at "wss://host/x": its address has the kind task for "a", but the option kind is tool',
    ],
    [
      'ws://host/x#a',
      {},
      'Cannot ask the peer at "ws://host/x": ws: is only for this machine, use wss: or set allowHttp: true',
    ],
  ])('readPeerAddress rejects %s with options %j', (given, options, message) => {
    expect(() => read(given, options)).toThrow(TypeError)
    expect(() => read(given, options)).toThrow(message)
  })

  it('readPeerAddress accepts ws: for other hosts with allowHttp', () => {
    expect(read('ws://host/x#a', { allowHttp: true })).toMatchObject({ socketUrl: 'ws://host/x' })
  })
})
