/** Parses and formats addresses of agents. Pure. */
import { isLoopback } from '@tutti/core/internal'

/**
 * Parses the address of an agent.
 *
 * @throws {TypeError} when it is invalid, or uses `http:` to another machine without `allowHttp`.
 */
export function readAgentUrl(
  given: string | URL,
  options: { readonly allowHttp?: boolean } = {},
): URL {
  const url = URL.parse(String(given))
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    const shown = JSON.stringify(withoutSecrets(String(given)))
    throw new TypeError(`Cannot ask the agent at ${shown}: must be an https: URL`)
  }
  if (options.allowHttp !== true && isExposed(url)) throw new TypeError(exposedMessage(url))
  return url
}

/** Returns whether requests would cross the network unencrypted. */
export function isExposed({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && !isLoopback(hostname)
}

/** Reason why an unencrypted address is rejected. */
export function exposedMessage(url: URL): string {
  return `Cannot ask the agent at "${formatShownUrl(url)}": http: is only for this machine, use https: or set allowHttp: true`
}

/** Formats an address without user, password, query and fragment, which may be secret. */
export function formatShownUrl({ protocol, host, pathname }: URL): string {
  return `${protocol}//${host}${pathname}`
}

/** Appends a path to the path of an address. */
export function appendPath(base: URL, path: string): URL {
  const url = new URL(base)
  url.pathname = `${base.pathname.replace(/\/+$/, '')}${path}`
  return url
}

/** Maximum number of characters of an invalid address that a message quotes. */
const SHOWN_LENGTH = 200

function withoutSecrets(text: string): string {
  const [address = ''] = text.split(/[?#]/, 1)
  return address.replace(/^.*@/s, '').slice(0, SHOWN_LENGTH)
}
