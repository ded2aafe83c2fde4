/** The interface of the readers that bring a service's stream into the form of its provider. */
import type { Json } from '../json.ts'

/**
 * Reads the stream of one answer. A reader returns events in exactly the form that the provider documents, because
 * LangChain's classes drop or misread everything else.
 */
export interface WireReader {
  /** Returns the events for one event of the service; none for an event without content. */
  read(event: Json): readonly Json[]
  /** Returns the last events. `isDone` says whether the service marked the end with `[DONE]`. */
  end(isDone: boolean): readonly Json[]
  /** Whether the service has said that nothing follows. */
  readonly isOver: boolean
  /** Returns the events of an answer that was sent as one JSON body; undefined if that is not possible. */
  readWhole(body: Json): readonly Json[] | undefined
  /** Returns a JSON body in the provider's form, for a request without streaming. */
  repairWhole(body: Json): Json
}
