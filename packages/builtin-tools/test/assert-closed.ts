import { existsSync, readdirSync, readlinkSync } from 'node:fs'

/**
 * Fails when this process has open files below a directory. Does nothing on systems other than Linux.
 *
 * @throws {Error} naming the open files.
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
    // It has been closed: the list itself was open while it was read.
    return ''
  }
}
