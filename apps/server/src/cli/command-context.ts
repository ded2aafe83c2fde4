/** State that a command shares with the code that runs it. */
import type { CommandIo } from '../terminal/command-io.ts'
import type { Exit } from './exit-codes.ts'

/** I/O of a command, and the results that it leaves for `runCommand`. */
export interface CommandContext {
  readonly io: CommandIo
  /** Outcome of the command. Initially `OK`. */
  exit: Exit
  /** Address of the server that the command calls, for advice in errors. */
  url: string
}
