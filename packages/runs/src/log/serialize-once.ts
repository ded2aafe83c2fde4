/**
 * Serializes each event and step of a run once: the size limits, the store and the readers share the text. Events and
 * steps never change after they were emitted.
 *
 * The text is a private field of the event or step itself, which no code outside this file sees. An entry in a WeakMap
 * would cost more than serializing an event again.
 */
import type { RunStep } from '@tutti/ensemble/internal'
import type { LoggedRunEvent, RunEvent } from '@tutti/protocol'
import type { EventPosition } from '@tutti/protocol/internal'

/** Returns the passed object from its constructor, so that the fields of a subclass are added to that object. */
// oxlint-disable-next-line typescript/no-extraneous-class -- the base of a class needs a constructor
class GivenObject {
  constructor(given: object) {
    return given
  }
}

/** An event or a step with its text. */
class SerializedValue extends GivenObject {
  readonly #text: string

  private constructor(value: object, text: string) {
    super(value)
    this.#text = text
  }

  static find(value: object): string | undefined {
    return #text in value ? value.#text : undefined
  }

  static add(value: object, text: string): string {
    return new SerializedValue(value, text).#text
  }
}

/** Returns an event or a step as JSON text. */
export function serializeOnce(value: RunEvent | RunStep | LoggedRunEvent): string {
  return SerializedValue.find(value) ?? SerializedValue.add(value, JSON.stringify(value))
}

/** Adds the position of an event in the log of its run. */
export function toLoggedEvent(runId: string, seq: number, event: RunEvent): LoggedRunEvent {
  const id = `${runId}:${seq}`
  const logged = { ...event, runId, seq, id }
  const text = SerializedValue.find(event)
  if (text !== undefined && !hasPosition(event)) {
    SerializedValue.add(logged, appendPosition(text, { runId, seq, id }))
  }
  return logged
}

/** Whether the event has a field of its position itself, such as the run id of a result; JSON must have each name once. */
function hasPosition(event: RunEvent): boolean {
  return 'runId' in event || 'seq' in event || 'id' in event
}

/** Returns the text of an event with its position, without serializing the event again. */
function appendPosition(text: string, { runId, seq, id }: EventPosition): string {
  return `${text.slice(0, -1)},"runId":${JSON.stringify(runId)},"seq":${seq},"id":${JSON.stringify(id)}}`
}
