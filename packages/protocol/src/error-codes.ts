/**
 * All error codes of the wire, in two tables: codes with which a request is answered, and codes with which a run, task or
 * tool call fails. Other code refers to these tables instead of repeating a code as a literal.
 */

/** HTTP status of an error code, whether a retry of the same request may succeed, and the meaning of the code. */
export interface ErrorCodeInfo {
  readonly status: number
  readonly retryable: boolean
  readonly meaning: string
}

/** Whether a retry may succeed after a failure, and the meaning of the code. */
export interface FailureCodeInfo {
  readonly retryable: boolean
  readonly meaning: string
}

/** Codes of an error body, with status, retryability and meaning. */
export const ERROR_CODES = {
  BAD_REQUEST: { status: 400, retryable: false, meaning: 'The request does not match its schema' },
  INVALID_TOOL: { status: 400, retryable: false, meaning: 'The catalog has no tool of this name' },
  INVALID_MODEL: {
    status: 400,
    retryable: false,
    meaning: 'The catalog has no model with this alias',
  },
  INVALID_TASK_OVERRIDE: {
    status: 400,
    retryable: false,
    meaning: 'An override refers to a task that the ensemble does not have',
  },
  CIRCULAR_DEPENDENCY: {
    status: 400,
    retryable: false,
    meaning: 'The context of tasks forms a cycle',
  },
  INVALID_ENSEMBLE: {
    status: 400,
    retryable: false,
    meaning: 'No ensemble has this name, or its tasks are inconsistent',
  },
  INVALID_WEBHOOK: {
    status: 400,
    retryable: false,
    meaning: 'No webhook is registered under this name',
  },
  UNAUTHORIZED: {
    status: 401,
    retryable: false,
    meaning: 'The request has no valid key or ticket',
  },
  FORBIDDEN: {
    status: 403,
    retryable: false,
    meaning: 'The key does not have the scope for this, or only local callers may do it',
  },
  ORIGIN_NOT_ALLOWED: {
    status: 403,
    retryable: false,
    meaning: 'The origin of the request is not allowed',
  },
  HOST_NOT_ALLOWED: {
    status: 403,
    retryable: false,
    meaning: 'The Host header names another server, as in DNS rebinding',
  },
  NOT_FOUND: { status: 404, retryable: false, meaning: 'The route or the file does not exist' },
  RUN_NOT_FOUND: {
    status: 404,
    retryable: false,
    meaning: 'No run has this id, or it is no longer stored',
  },
  BUILD_NOT_FOUND: {
    status: 404,
    retryable: false,
    meaning: 'No process of a build with this id has started',
  },
  SCHEDULE_NOT_FOUND: { status: 404, retryable: false, meaning: 'No schedule has this name' },
  SCHEDULE_EXISTS: {
    status: 409,
    retryable: false,
    meaning: 'A schedule of this name exists already',
  },
  SCHEDULE_READ_ONLY: {
    status: 409,
    retryable: false,
    meaning: 'The configuration of the server defines the schedule',
  },
  SCHEDULE_LIMIT: {
    status: 409,
    retryable: false,
    meaning: 'The store has the maximum number of schedules, or too many of one key',
  },
  REVIEW_NOT_FOUND: { status: 404, retryable: false, meaning: 'No review has this id' },
  THREAD_NOT_FOUND: {
    status: 404,
    retryable: false,
    meaning: 'No thread has this id, or it is no longer stored',
  },
  TOOL_NOT_FOUND: {
    status: 404,
    retryable: false,
    meaning: 'No tool that can be called has this name',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    retryable: false,
    meaning: 'The route does not support this method',
  },
  NOT_ACCEPTABLE: {
    status: 406,
    retryable: false,
    meaning: 'The route cannot respond in a media type that the Accept header allows',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    retryable: true,
    meaning: 'The request took too long to arrive',
  },
  RUN_COMPLETED: {
    status: 409,
    retryable: false,
    meaning: 'The run has ended and can no longer be changed',
  },
  RUN_NOT_RUNNING: {
    status: 409,
    retryable: true,
    meaning: 'The run is not running at the moment',
  },
  RUN_EXISTS: { status: 409, retryable: false, meaning: 'The chosen run id is already in use' },
  SIDE_EFFECTS: {
    status: 409,
    retryable: false,
    meaning: 'The fork might repeat calls that must not be repeated',
  },
  RUN_NOT_REPLAYABLE: {
    status: 409,
    retryable: false,
    meaning: 'The run has not completed, or is a replay itself',
  },
  STEPS_NOT_RETAINED: {
    status: 409,
    retryable: false,
    meaning: 'The steps of the run, which a fork or a replay needs, are no longer stored',
  },
  THREAD_EXISTS: {
    status: 409,
    retryable: false,
    meaning: 'The chosen thread id is in use by a thread with another title or other tags',
  },
  THREAD_BUSY: {
    status: 409,
    retryable: true,
    meaning: 'The newest run of the thread has not ended',
  },
  REVIEW_RESOLVED: {
    status: 409,
    retryable: false,
    meaning: 'The review has already been decided or has timed out',
  },
  IDEMPOTENCY_CONFLICT: {
    status: 409,
    retryable: false,
    meaning: 'The idempotency key was used with another body',
  },
  CURSOR_PAST_END: {
    status: 409,
    retryable: false,
    meaning: 'The requested position is after the last event',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    retryable: false,
    meaning: 'The body, message, file or trace exceeds its size limit',
  },
  EVENT_REFUSED: {
    status: 422,
    retryable: false,
    meaning: 'The event data does not match the schema of the wait',
  },
  EVENTS_FULL: {
    status: 429,
    retryable: true,
    meaning:
      'Nothing waits for the event, and too many such events are stored, of all keys or of this one',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    retryable: false,
    meaning: 'The body is not application/json, or the file is not UTF-8 text',
  },
  SPEND_LIMIT: {
    status: 429,
    retryable: true,
    meaning: 'The runs of this key have reached its spend limit',
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    retryable: false,
    meaning: 'The headers of the request exceed the size limit',
  },
  CONCURRENCY_LIMIT: {
    status: 429,
    retryable: true,
    meaning: 'The limit on running and waiting runs is reached',
  },
  RATE_LIMITED: {
    status: 429,
    retryable: true,
    meaning: 'Too many requests with this key or from this address',
  },
  INTERNAL: {
    status: 500,
    retryable: true,
    meaning: 'Internal error; the server logs details under the request id',
  },
  TOOL_EXECUTION_FAILED: {
    status: 500,
    retryable: true,
    meaning: 'The tool call failed without a result',
  },
  NOT_CONFIGURED: {
    status: 503,
    retryable: false,
    meaning: 'The server is not configured with the required ensemble, catalog or directory',
  },
  DRAINING: {
    status: 503,
    retryable: true,
    meaning: 'The server is draining and accepts no new runs',
  },
  OVERLOADED: {
    status: 503,
    retryable: true,
    meaning:
      'The requests in flight, of all callers or of this one, hold as many bytes as they may',
  },
  QUERY_TOO_SLOW: {
    status: 503,
    retryable: true,
    meaning: 'The store took too long to read the requested records; narrow the filter',
  },
  STORE_UNAVAILABLE: { status: 503, retryable: true, meaning: 'The run store is unavailable' },
  ENSEMBLE_UNAVAILABLE: {
    status: 503,
    retryable: true,
    meaning:
      'The server cannot build the ensemble of the run, because it or its tools or models are not deployed',
  },
  NOT_CONFIRMED: {
    status: 504,
    retryable: true,
    meaning: 'The command is queued, but the process that owns the run did not confirm it in time',
  },
} as const satisfies Record<string, ErrorCodeInfo>

/** Code of `ERROR_CODES`: the `error` field of an error body and of the `error` message. */
export type ErrorCode = keyof typeof ERROR_CODES

/** Codes with which a run, task or tool call fails, with retryability and meaning. */
export const FAILURE_CODES = {
  MODEL_FAILED: {
    retryable: true,
    meaning: 'The model gave no usable answer, after retries and fallback',
  },
  MODEL_REFUSED: { retryable: false, meaning: 'The model refused to answer' },
  OUTPUT_TRUNCATED: {
    retryable: false,
    meaning: 'The answer was truncated at the output limit of the model, after all extra calls',
  },
  OUTPUT_EMPTY: {
    retryable: true,
    meaning: 'The last answer of the agent was empty, also after it was asked for once more',
  },
  CONTENT_FILTERED: {
    retryable: false,
    meaning: 'A content filter of the provider blocked the prompt or the answer',
  },
  TOOL_CONFIGURATION: {
    retryable: false,
    meaning: 'A tool is misconfigured, such as one that requires approval without a reviewer',
  },
  ITERATION_LIMIT: {
    retryable: false,
    meaning: 'The agent used all its model turns without a final answer',
  },
  TASK_TIMEOUT: { retryable: true, meaning: 'The task exceeded its time limit' },
  TASK_FAILED: { retryable: false, meaning: 'The task failed for another reason' },
  COMPENSATION_FAILED: {
    retryable: false,
    meaning: 'A handler failed or was cancelled, and what it had done could not all be undone',
  },
  REQUEST_REJECTED: { retryable: false, meaning: 'A handler rejected the request' },
  OUTPUT_INVALID: {
    retryable: true,
    meaning: 'The answer did not match the output schema, after all corrections',
  },
  GUARDRAIL_VIOLATION: {
    retryable: false,
    meaning: 'A guardrail rejected the input or the output',
  },
  BUDGET_EXCEEDED: {
    retryable: false,
    meaning: 'A limit on tokens, cost, time or tool calls was reached',
  },
  INPUT_MISSING: { retryable: false, meaning: 'A template refers to missing inputs' },
  INPUT_TOO_LARGE: {
    retryable: false,
    meaning: 'The inputs of the run, or a text that contains them, exceed a limit in bytes',
  },
  CANCELLED: { retryable: false, meaning: 'The work was cancelled' },
  ENGINE_FAILED: { retryable: true, meaning: 'Internal error of the engine' },
  TOOL_INPUT_INVALID: {
    retryable: true,
    meaning: 'The arguments of a tool call do not match its schema',
  },
  TOOL_TIMEOUT: { retryable: true, meaning: 'A tool exceeded its time limit' },
  TOOL_FAILED: { retryable: true, meaning: 'A tool reported a failure or threw' },
  TOOL_REJECTED: { retryable: false, meaning: 'A reviewer rejected the tool call' },
  EXIT_EARLY: { retryable: false, meaning: 'A reviewer ended the run early' },
  TOOL_UNKNOWN: {
    retryable: false,
    meaning: 'The model requested a tool that the task does not have',
  },
  CONFIG_INVALID: { retryable: false, meaning: 'The configuration is invalid' },
  INTERRUPTED: { retryable: true, meaning: 'The process that did the work disappeared' },
  PROCESS_LOST: {
    retryable: false,
    meaning: 'The process that owned the run crashed or lost it several times in a row',
  },
  QUEUE_TIMEOUT: {
    retryable: true,
    meaning:
      'The run had not begun within the maximum time that its submission allows in the queue',
  },
  REPLAY_MISMATCH: {
    retryable: false,
    meaning: 'The code of the run differs from the code that recorded its steps',
  },
  RUN_TOO_LARGE: {
    retryable: false,
    meaning: 'The stored run, or one of its events, exceeds a limit in bytes',
  },
  RUN_UNREADABLE: { retryable: false, meaning: 'The stored run cannot be read' },
  STORE_REFUSED: {
    retryable: false,
    meaning: 'The run store refused a value that the run had to record',
  },
  FENCED: { retryable: false, meaning: 'Another process has taken over the run' },
  STORE_LOCKED: {
    retryable: true,
    meaning: 'Another process has locked the store of this data directory',
  },
  SCHEMA_TOO_NEW: { retryable: false, meaning: 'The store was written by a newer version' },
  REVIEW_REJECTED: {
    retryable: false,
    meaning: 'A reviewer rejected the work, and no further attempt is allowed',
  },
  REVIEW_TIMEOUT: {
    retryable: false,
    meaning: 'A review timed out, and its onTimeout is FAIL',
  },
  RATE_LIMIT_TIMEOUT: { retryable: true, meaning: 'A rate limit did not allow the call in time' },
  CONSTRAINT_VIOLATION: {
    retryable: false,
    meaning: 'The manager ended without the required delegations',
  },
} as const satisfies Record<string, FailureCodeInfo>

/** Code of `FAILURE_CODES`: the reason why a run, task or tool call failed. */
export type FailureCode = keyof typeof FAILURE_CODES

/** Whether the text is a code of `ERROR_CODES`; inherited names such as `constructor` are not. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code)
}

/** Whether the text is a code of `FAILURE_CODES`. */
export function isFailureCode(code: string): code is FailureCode {
  return Object.hasOwn(FAILURE_CODES, code)
}
