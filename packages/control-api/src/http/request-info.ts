/** Reads the parts of a request that the guard checks. Pure. */
import type { RequestInfo } from '../auth/guard-request.ts'
import type { IncomingMessage } from 'node:http'

/** Returns the parts of a Node request that the guard checks. */
export function readRequestInfo(request: IncomingMessage): RequestInfo {
  const { headers, method = 'GET', url = '', socket } = request
  const { host, origin, authorization } = headers
  const fetchSite = headers['sec-fetch-site']
  const query = url.indexOf('?')
  const ticket =
    query === -1 ? undefined : (new URLSearchParams(url.slice(query)).get('ticket') ?? undefined)
  return {
    method,
    path: query === -1 ? url : url.slice(0, query),
    host,
    origin,
    authorization,
    fetchSite: typeof fetchSite === 'string' ? fetchSite : undefined,
    ticket,
    remoteAddress: socket.remoteAddress,
  }
}
