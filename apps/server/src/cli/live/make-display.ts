/** Which display fits: a live view on a terminal, else plain lines. */
import { WriteStream } from 'node:tty'

import { LiveDisplay } from './live-display.ts'
import { plainDisplay } from './plain-display.ts'

import type { CommandIo } from '../command-io.ts'
import type { Display } from './display.ts'
import type { FollowCommandOptions } from './follow-options.ts'
import type { LiveOptions } from './live-display.ts'

/** What decides. */
export type DisplayOptions = Pick<FollowCommandOptions, 'plain' | 'quiet' | 'events'>

/** The terminal for a live view; undefined where there is none, or where none is wanted. */
export function liveTerminal(
  { stderr, variables }: CommandIo,
  options: DisplayOptions,
): WriteStream | undefined {
  if (options.plain === true || options.quiet === true || options.events === true) return undefined
  const isBatch =
    variables['TERM'] === 'dumb' || !['', 'false', '0', undefined].includes(variables['CI'])
  return stderr instanceof WriteStream && !isBatch ? stderr : undefined
}

/** Makes the display; `from` is the first event that plain lines tell of. */
export function makeDisplay(
  io: CommandIo,
  options: DisplayOptions,
  live: LiveOptions & { readonly from: number },
): Display {
  const terminal = liveTerminal(io, options)
  if (terminal !== undefined) return new LiveDisplay(terminal, io, live)
  // With the events on standard output nobody needs to read them once more.
  return plainDisplay(io, {
    isQuiet: options.quiet === true || options.events === true,
    from: live.from,
  })
}
