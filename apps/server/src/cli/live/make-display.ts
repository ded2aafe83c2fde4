/** Selects the display: a live view on a terminal, otherwise plain lines. */
import { WriteStream } from 'node:tty'

import { LiveDisplay } from './live-display.ts'
import { plainDisplay } from './plain-display.ts'

import type { CommandIo } from '../../terminal/command-io.ts'
import type { Display } from './display.ts'
import type { FollowCommandOptions } from './follow-options.ts'
import type { LiveOptions } from './live-display.ts'

/** Options that affect the selection. */
export type DisplayOptions = Pick<FollowCommandOptions, 'plain' | 'quiet' | 'events'>

/** Returns the terminal for a live view; undefined if there is none, or if options or variables exclude it. */
export function liveTerminal(
  { stderr, variables }: CommandIo,
  options: DisplayOptions,
): WriteStream | undefined {
  if (options.plain === true || options.quiet === true || options.events === true) return undefined
  const isBatch =
    variables['TERM'] === 'dumb' || !['', 'false', '0', undefined].includes(variables['CI'])
  return stderr instanceof WriteStream && !isBatch ? stderr : undefined
}

/** Creates the display; `from` is the `seq` of the first event in plain lines. */
export function makeDisplay(
  io: CommandIo,
  options: DisplayOptions,
  live: LiveOptions & { readonly from: number },
): Display {
  const terminal = liveTerminal(io, options)
  if (terminal !== undefined) return new LiveDisplay(terminal, io, live)
  // With --events, standard output already has the events.
  return plainDisplay(io, {
    isQuiet: options.quiet === true || options.events === true,
    from: live.from,
  })
}
