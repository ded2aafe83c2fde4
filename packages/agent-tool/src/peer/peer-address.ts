/** Pure: addresses of what a peer shares, such as `wss://host/path#task:translate`. */
import { decodePart, separateLogin } from '@tutti/net'

import { isExposed, shownUrl } from '../http/agent-url.ts'

/** What a peer shares: a task, which is an ensemble there, or a tool. */
export type PeerKind = 'task' | 'tool'

/** An address, read. */
export interface PeerAddress {
  /** Where the WebSocket is; its query may be secret. */
  readonly socketUrl: URL
  /** The header that says the user and password of the address. */
  readonly login: string | undefined
  /** The address without user, password and query. */
  readonly uri: string
  readonly name: string
  /** Undefined when the address leaves it open. */
  readonly kind: PeerKind | undefined
}

/** What else is said of an address. */
export interface PeerAddressOptions {
  readonly kind?: PeerKind
  /** Whether `ws:` may lead to another machine. */
  readonly allowHttp?: boolean
}

const SOCKET_PATH = '/ws'

/**
 * Reads an address. No path means `/ws`, where a Tutti server has its WebSocket.
 *
 * @throws {TypeError} when it is none, names nothing, contradicts `kind`, or is one of `ws:` to another
 * machine without `allowHttp`.
 */
export function readPeerAddress(
  address: string | URL,
  { kind, allowHttp = false }: PeerAddressOptions = {},
): PeerAddress {
  const given = URL.parse(String(address))
  if (given === null || !/^wss?:$/.test(given.protocol)) {
    // What is no such address may hold a secret anywhere.
    throw new TypeError('Cannot read the address of a peer: must be a wss: URL with a #name')
  }
  const shown = shownUrl(given)
  if (!allowHttp && isExposed(asHttp(given))) {
    const why = 'ws: is only for this machine, use wss: or set allowHttp: true'
    throw new TypeError(`Cannot ask the peer at "${shown}": ${why}`)
  }
  const target = readTarget(given.hash.slice(1))
  if (target.name.trim() === '') {
    const why = 'must end with what is asked there, such as #task:name or #tool:name'
    throw new TypeError(`Cannot ask the peer at "${shown}": its address ${why}`)
  }
  if (kind !== undefined && target.kind !== undefined && target.kind !== kind) {
    const why = `its address says that "${target.name}" is a ${target.kind}, and kind says ${kind}`
    throw new TypeError(`Cannot ask the peer at "${shown}": ${why}`)
  }
  const uri = `${shown}${given.hash}`
  const { url: socketUrl, login } = separateLogin(given)
  socketUrl.hash = ''
  if (socketUrl.pathname === '/') socketUrl.pathname = SOCKET_PATH
  return { socketUrl, login, uri, name: target.name, kind: target.kind ?? kind }
}

function readTarget(fragment: string): Pick<PeerAddress, 'name' | 'kind'> {
  const text = decodePart(fragment)
  const [, kind, name] = /^(task|tool):(.*)$/s.exec(text) ?? []
  if (name === undefined) return { name: text, kind: undefined }
  return { name, kind: kind === 'task' ? 'task' : 'tool' }
}

/** The address of the handshake. */
function asHttp(url: URL): URL {
  return new URL(url.href.replace(/^ws/, 'http'))
}
