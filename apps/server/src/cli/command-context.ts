/** What the commands of one command line share. */
import type { CommandIo } from './command-io.ts'
import type { Exit } from './exit-codes.ts'

/** The outside, and what a command leaves behind for whoever ran it. */
export interface CommandContext {
  readonly io: CommandIo
  /** How it ended. @default OK */
  exit: Exit
  /** The server that was talked to, for advice. */
  url: string
}
