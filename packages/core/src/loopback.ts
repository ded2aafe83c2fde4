/** Which hosts are this machine: one rule for addresses to listen on, peers of a socket, and hosts of URLs. Pure. */

const LOOPBACK_ADDRESS =
  /^(?:(?:::ffff:)?127(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}|::ffff:7f[\da-f]{2}:[\da-f]{1,4}|::1)$/

/**
 * Returns whether only this machine answers at `host`: `localhost` and the names below it, 127.0.0.0/8, `::1`, and IPv4
 * addresses as an IPv6 socket reports them. Brackets around an IPv6 address, case and a final dot do not matter; a port
 * does not belong to a host.
 */
export function isLoopback(host: string): boolean {
  const name = host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
  return name === 'localhost' || name.endsWith('.localhost') || LOOPBACK_ADDRESS.test(name)
}
