/** Where the progress of a run is shown; not its result. */
import type { ConnectionState } from '@tutti/client'
import type { LoggedRunEvent, RunState } from '@tutti/protocol'

/** One way to show progress. */
export interface Display {
  /** An event came; `state` is the run after it. */
  show(event: LoggedRunEvent, state: RunState): void
  /** The connection is lost, or is there again. */
  connection(state: ConnectionState): void
  /** Says something that stays. */
  say(text: string): void
  /** Asks in one line below everything; undefined takes the question away. */
  question(text: string | undefined): void
  /** Leaves the terminal to somebody else until `resume`. */
  suspend(): void
  resume(): void
  /** Ends the display; with a summary when the run is over. */
  end(outcome: 'over' | 'left'): void
}
