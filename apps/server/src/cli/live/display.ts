/** The interface of displays, which show the progress of a run but not its result. */
import type { ConnectionState } from '@tutti/client'
import type { LoggedRunEvent, RunStateFold } from '@tutti/protocol'

/** Shows the progress of a run. */
export interface Display {
  /** Shows an event; `run` is the run after it, and changes with the next one. */
  show(event: LoggedRunEvent, run: RunStateFold): void
  /** Shows that the connection is lost or restored. */
  connection(state: ConnectionState): void
  /** Prints a message that stays on the screen. */
  print(text: string): void
  /** Shows a question below everything else; undefined removes it. */
  question(text: string | undefined): void
  /** Releases the terminal until `resume` is called. */
  suspend(): void
  resume(): void
  /** Ends the display, with a summary if the run is over. */
  end(outcome: 'over' | 'left'): void
}
