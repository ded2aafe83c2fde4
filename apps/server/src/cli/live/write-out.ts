/** Standard output for a result or for events. */
import { once } from 'node:events'

import type { CommandIo } from '../command-io.ts'

/** Writes, and waits for a reader that is slow, so that events do not pile up here. */
export async function writeOut({ stdout }: Pick<CommandIo, 'stdout'>, text: string): Promise<void> {
  if (!stdout.write(text)) await once(stdout, 'drain')
}
