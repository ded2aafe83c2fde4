/** Answers with updates as Server-Sent Events. */
import {
  encodeMessage,
  KEEP_ALIVE_COMMENT,
  STREAM_HEADERS,
  type StreamAnswer,
} from '../http/event-stream.ts'
import { errorAnswer, type ErrorAnswer } from './errors.ts'

import type { GatewayOptions } from '../gateway-options.ts'
import type { TaskStream } from './events.ts'
import type { StreamItem } from './wire.ts'

/** Formats the messages of a stream for a wire. */
export interface StreamWriter {
  item(item: StreamItem): object
  error(error: ErrorAnswer): object
}

/** Answers with the task, then with its updates. */
export function streamTask(
  stream: TaskStream,
  options: GatewayOptions,
  write: StreamWriter,
): StreamAnswer {
  const { runs, clock, heartbeatMs } = options
  const { runId, from } = stream
  const encoder = {
    head: encodeMessage(write.item(stream.first)),
    // A named event would end the stream for clients of A2A.
    keepAlive: KEEP_ALIVE_COMMENT,
    get isDone() {
      return stream.isDone
    },
    encode: (events: Parameters<TaskStream['after']>[0]) =>
      stream
        .after(events)
        .map((item) => encodeMessage(write.item(item)))
        .join(''),
    fail: (error: unknown) => encodeMessage(write.error(errorAnswer(error, options))),
  }
  const batches = runs.follow({ runId, from })
  return { headers: STREAM_HEADERS, parts: { batches, encoder, clock, heartbeatMs } }
}
