/** Parses addresses of shared tasks and tools, such as `wss://host/path#task:translate`. Pure. */
import { decodePart, separateLogin } from '@tutti/net/internal'

import { formatShownUrl, isExposed } from '@tutti/agent-tool/internal'

/** Kind of a shared item: a task, which is an ensemble of the peer, or a tool. */
export type PeerKind = 'task' | 'tool'

/** A parsed address. */
export interface PeerAddress {
  /** URL of the WebSocket; its query may be secret. */
  readonly socketUrl: URL
  /** `authorization` header with user and password of the address. */
  readonly login: string | undefined
  /** The address without user, password and query. */
  readonly uri: string
  readonly name: string
  /** Undefined if the address does not specify it. */
  readonly kind: PeerKind | undefined
}

/** Options of parsing an address. */
export interface PeerAddressOptions {
  readonly kind?: PeerKind
  /** Whether `ws:` may lead to another machine. */
  readonly allowHttp?: boolean
}

const SOCKET_PATH = '/ws'

/**
 * Parses an address. The path defaults to `/ws`, the WebSocket of a Tutti server.
 *
 * @throws {TypeError} when the address is invalid, has no name, contradicts `kind`, or uses `ws:` to another
 * machine without `allowHttp`.
 */
export function readPeerAddress(
  address: string | URL,
  { kind, allowHttp = false }: PeerAddressOptions = {},
): PeerAddress {
  const given = URL.parse(String(address))
  if (given === null || !/^wss?:$/.test(given.protocol)) {
    // An invalid address may contain a secret anywhere.
    throw new TypeError('Invalid peer address: expected a wss: URL with a #name')
  }
  const shown = formatShownUrl(given)
  if (!allowHttp && isExposed(toHttpUrl(given))) {
    const why = 'ws: is only for this machine, use wss: or set allowHttp: true'
    throw new TypeError(`Cannot ask the peer at "${shown}": ${why}`)
  }
  const target = readTarget(given.hash.slice(1))
  if (target.name.trim() === '') {
    const why = 'must end with the requested item, such as #task:name or #tool:name'
    throw new TypeError(`Cannot ask the peer at "${shown}": its address ${why}`)
  }
  if (kind !== undefined && target.kind !== undefined && target.kind !== kind) {
    const why = `its address has the kind ${target.kind} for "${target.name}", but the option kind is ${kind}`
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

/** Returns the URL of the handshake. */
function toHttpUrl(url: URL): URL {
  return new URL(url.href.replace(/^ws/, 'http'))
}
