/** Addresses of agents: which may be asked, and how they are shown. Pure. */
import { isLoopback } from '@tutti/core'

/**
 * The address of an agent, read.
 *
 * @throws {TypeError} when it is none, or one of `http:` to another machine without `allowHttp`.
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

/** Whether what is sent there can be read on the way. */
export function isExposed({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && !isLoopback(hostname)
}

/** Why an address is refused that is exposed. */
export function exposedMessage(url: URL): string {
  return `Cannot ask the agent at "${shownUrl(url)}": http: is only for this machine, use https: or set allowHttp: true`
}

/** An address as it can be shown: without user, password, query and fragment, which may be secret. */
export function shownUrl({ protocol, host, pathname }: URL): string {
  return `${protocol}//${host}${pathname}`
}

/** The same address with more at the end of its path, which is below whatever the address names. */
export function urlBelow(base: URL, path: string): URL {
  const url = new URL(base)
  url.pathname = `${base.pathname.replace(/\/+$/, '')}${path}`
  return url
}

/** Characters of a text that should be an address which are quoted. */
const SHOWN_LENGTH = 200

function withoutSecrets(text: string): string {
  const [place = ''] = text.split(/[?#]/, 1)
  return place.replace(/^.*@/s, '').slice(0, SHOWN_LENGTH)
}
