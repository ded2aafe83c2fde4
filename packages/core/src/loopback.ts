/** Recognition of hosts that are this machine: one rule for listen addresses, socket peers and hosts of URLs. */

const LOOPBACK_ADDRESS =
  /^(?:(?:::ffff:)?127(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}|::ffff:7f[\da-f]{2}:[\da-f]{1,4}|::1)$/

/**
 * Returns whether `host` is this machine: `localhost` and its subdomains, 127.0.0.0/8, `::1`, and IPv4 addresses as an
 * IPv6 socket reports them. Brackets around an IPv6 address, case and a trailing dot do not matter; `host` must not
 * contain a port.
 */
export function isLoopback(host: string): boolean {
  const name = host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
  return name === 'localhost' || name.endsWith('.localhost') || LOOPBACK_ADDRESS.test(name)
}
