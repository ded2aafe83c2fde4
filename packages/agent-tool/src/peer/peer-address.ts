/** Pure: addresses of what a peer shares, such as `wss://host/path#task:translate`. */
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
  given: string | URL,
  { kind, allowHttp = false }: PeerAddressOptions = {},
): PeerAddress {
  const socketUrl = URL.parse(String(given))
  if (socketUrl === null || !/^wss?:$/.test(socketUrl.protocol)) {
    // What is no such address may hold a secret anywhere.
    throw new TypeError('Cannot read the address of a peer: must be a wss: URL with a #name')
  }
  const shown = shownUrl(socketUrl)
  if (!allowHttp && isExposed(asHttp(socketUrl))) {
    const why = 'ws: is only for this machine, use wss: or set allowHttp: true'
    throw new TypeError(`Cannot ask the peer at "${shown}": ${why}`)
  }
  const target = readTarget(socketUrl.hash.slice(1))
  if (target.name.trim() === '') {
    const why = 'must end with what is asked there, such as #task:name or #tool:name'
    throw new TypeError(`Cannot ask the peer at "${shown}": its address ${why}`)
  }
  if (kind !== undefined && target.kind !== undefined && target.kind !== kind) {
    const why = `its address says that "${target.name}" is a ${target.kind}, and kind says ${kind}`
    throw new TypeError(`Cannot ask the peer at "${shown}": ${why}`)
  }
  const uri = `${shown}${socketUrl.hash}`
  const login = loginOf(socketUrl)
  socketUrl.hash = ''
  socketUrl.username = ''
  socketUrl.password = ''
  if (socketUrl.pathname === '/') socketUrl.pathname = SOCKET_PATH
  return { socketUrl, login, uri, name: target.name, kind: target.kind ?? kind }
}

function readTarget(fragment: string): Pick<PeerAddress, 'name' | 'kind'> {
  const text = decoded(fragment)
  const [, kind, name] = /^(task|tool):(.*)$/s.exec(text) ?? []
  if (name === undefined) return { name: text, kind: undefined }
  return { name, kind: kind === 'task' ? 'task' : 'tool' }
}

function loginOf({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined
  const pair = `${decoded(username)}:${decoded(password)}`
  return `Basic ${Buffer.from(pair).toString('base64')}`
}

/** A part of the address as it was meant; one that is not written well is taken as it is. */
function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment
  }
}

/** The address of the handshake. */
function asHttp(url: URL): URL {
  return new URL(url.href.replace(/^ws/, 'http'))
}
