import { existsSync, readdirSync, readlinkSync } from 'node:fs'

/**
 * Fails when this process has something open below a directory, on systems that tell (Linux).
 *
 * @throws {Error} naming what is open.
 */
export function assertClosed(directory: string): void {
  const list = '/proc/self/fd'
  if (!existsSync(list)) return
  const open = readdirSync(list)
    .map((fd) => targetOf(`${list}/${fd}`))
    .filter((path) => path.startsWith(directory))
  if (open.length > 0) throw new Error(`Left open: ${open.join(', ')}`)
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link)
  } catch {
    // It was closed meanwhile: the list itself was open while it was read.
    return ''
  }
}
