/**
 * Every code that crosses the wire, in two tables: what a request can be answered with, and what a
 * run, task or tool can fail with. A code is written nowhere else as a literal.
 */

/** What is said about an answer's code: its HTTP status, whether the same request may work later, why. */
export interface ErrorCodeInfo {
  readonly status: number
  readonly retryable: boolean
  readonly meaning: string
}

/** What is said about a failure's code: whether doing the same again may work, and why it failed. */
export interface FailureCodeInfo {
  readonly retryable: boolean
  readonly meaning: string
}

/** Code of an error body → status, retryable, meaning. The seed's codes, and ours in the same manner. */
export const ERROR_CODES = {
  BAD_REQUEST: { status: 400, retryable: false, meaning: 'The request does not fit its schema' },
  INVALID_TOOL: { status: 400, retryable: false, meaning: 'No tool of the catalog has this name' },
  INVALID_MODEL: {
    status: 400,
    retryable: false,
    meaning: 'No model of the catalog has this alias',
  },
  INVALID_TASK_OVERRIDE: {
    status: 400,
    retryable: false,
    meaning: 'An override names no task of the ensemble',
  },
  CIRCULAR_DEPENDENCY: {
    status: 400,
    retryable: false,
    meaning: 'Tasks wait for each other in a circle',
  },
  INVALID_ENSEMBLE: {
    status: 400,
    retryable: false,
    meaning: 'No ensemble has this name, or its tasks do not fit together',
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
    meaning: 'The web page that sent this is not on the list of origins',
  },
  HOST_NOT_ALLOWED: {
    status: 403,
    retryable: false,
    meaning: 'The Host header names another server, as in DNS rebinding',
  },
  NOT_FOUND: { status: 404, retryable: false, meaning: 'Nothing is at this address' },
  RUN_NOT_FOUND: {
    status: 404,
    retryable: false,
    meaning: 'No run has this id, or it is no longer kept',
  },
  REVIEW_NOT_FOUND: { status: 404, retryable: false, meaning: 'No review has this id' },
  TOOL_NOT_FOUND: {
    status: 404,
    retryable: false,
    meaning: 'No tool that can be invoked has this name',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    retryable: false,
    meaning: 'The address exists, but not with this method',
  },
  NOT_ACCEPTABLE: {
    status: 406,
    retryable: false,
    meaning: 'The Accept header allows no form that this address can send',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    retryable: true,
    meaning: 'The request took too long to arrive',
  },
  RUN_COMPLETED: {
    status: 409,
    retryable: false,
    meaning: 'The run is over and can no longer be changed',
  },
  RUN_NOT_RUNNING: {
    status: 409,
    retryable: true,
    meaning: 'The run is not being worked on at this moment',
  },
  RUN_EXISTS: { status: 409, retryable: false, meaning: 'The chosen run id is taken' },
  REVIEW_RESOLVED: {
    status: 409,
    retryable: false,
    meaning: 'The review was decided or timed out before',
  },
  IDEMPOTENCY_CONFLICT: {
    status: 409,
    retryable: false,
    meaning: 'The idempotency key was used with another body',
  },
  CURSOR_PAST_END: {
    status: 409,
    retryable: false,
    meaning: 'The position asked for is after the last event',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    retryable: false,
    meaning: 'The body, message, file or trace is over the limit',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    retryable: false,
    meaning: 'The body is not application/json, or the file is no text in UTF-8',
  },
  SPEND_LIMIT: {
    status: 429,
    retryable: true,
    meaning: 'The runs of this key have cost as much as it may spend',
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    retryable: false,
    meaning: 'The headers of the request are over the limit',
  },
  CONCURRENCY_LIMIT: {
    status: 429,
    retryable: true,
    meaning: 'As many runs as allowed are running and waiting',
  },
  RATE_LIMITED: {
    status: 429,
    retryable: true,
    meaning: 'Too many requests with this key or from this address',
  },
  INTERNAL: {
    status: 500,
    retryable: true,
    meaning: 'The server failed; the log has the details under the request id',
  },
  TOOL_EXECUTION_FAILED: {
    status: 500,
    retryable: true,
    meaning: 'The tool could not be run to an answer',
  },
  NOT_CONFIGURED: {
    status: 503,
    retryable: false,
    meaning: 'The server lacks the ensemble, catalog or directory that this needs',
  },
  DRAINING: {
    status: 503,
    retryable: true,
    meaning: 'The server is shutting down and takes no new runs',
  },
  STORE_UNAVAILABLE: { status: 503, retryable: true, meaning: 'The run store cannot be reached' },
  NOT_CONFIRMED: {
    status: 504,
    retryable: true,
    meaning:
      'The command is stored, but the process that executes the run has not confirmed it in time',
  },
} as const satisfies Record<string, ErrorCodeInfo>

/** A code of `ERROR_CODES`: the `error` field of an error body and of the `error` message. */
export type ErrorCode = keyof typeof ERROR_CODES

/** Code with which a run, task or tool call fails → retryable, meaning. */
export const FAILURE_CODES = {
  MODEL_FAILED: {
    retryable: true,
    meaning: 'The model gave no usable answer, after retries and fallback',
  },
  MODEL_REFUSED: { retryable: false, meaning: 'The model refused to answer' },
  OUTPUT_TRUNCATED: {
    retryable: false,
    meaning: 'The answer was cut at the output limit of the model, after all extra calls',
  },
  CONTENT_FILTERED: {
    retryable: false,
    meaning: 'A content filter of the provider blocked the prompt or the answer',
  },
  TOOL_CONFIGURATION: {
    retryable: false,
    meaning: 'A tool is set up wrongly, such as one that needs approval with no reviewer',
  },
  ITERATION_LIMIT: {
    retryable: false,
    meaning: 'The agent used all its model turns and gave no final answer',
  },
  TASK_TIMEOUT: { retryable: true, meaning: 'The task took longer than its time limit' },
  TASK_FAILED: { retryable: false, meaning: 'The task failed for a reason of its own' },
  REQUEST_REJECTED: { retryable: false, meaning: 'A handler does not accept the request' },
  OUTPUT_INVALID: {
    retryable: true,
    meaning: 'The answer did not fit the output schema, after all corrections',
  },
  GUARDRAIL_VIOLATION: { retryable: false, meaning: 'A guardrail refused the input or the output' },
  BUDGET_EXCEEDED: {
    retryable: false,
    meaning: 'A limit on tokens, cost, time or tool calls was reached',
  },
  INPUT_MISSING: { retryable: false, meaning: 'A template names inputs that were not given' },
  INPUT_TOO_LARGE: {
    retryable: false,
    meaning: 'The inputs of the run, or a text with them, are over a limit in bytes',
  },
  CANCELLED: { retryable: false, meaning: 'Somebody cancelled the work' },
  ENGINE_FAILED: { retryable: true, meaning: 'The engine itself failed' },
  TOOL_INPUT_INVALID: {
    retryable: true,
    meaning: 'The arguments of a tool call do not fit its schema',
  },
  TOOL_TIMEOUT: { retryable: true, meaning: 'A tool took longer than its time limit' },
  TOOL_FAILED: { retryable: true, meaning: 'A tool reported a failure or threw' },
  TOOL_REJECTED: { retryable: false, meaning: 'A reviewer refused the tool call' },
  EXIT_EARLY: { retryable: false, meaning: 'A reviewer ended the run early' },
  TOOL_UNKNOWN: {
    retryable: false,
    meaning: 'The model asked for a tool that the task does not have',
  },
  CONFIG_INVALID: { retryable: false, meaning: 'The configuration does not fit together' },
  INTERRUPTED: { retryable: true, meaning: 'The process that did the work went away' },
  PROCESS_LOST: {
    retryable: false,
    meaning: 'The process that executed the run died, or lost it, several times in a row',
  },
  RUN_TOO_LARGE: {
    retryable: false,
    meaning: 'What is stored of the run, or one of its events, is over a limit in bytes',
  },
  RUN_UNREADABLE: { retryable: false, meaning: 'What is stored of the run cannot be read' },
  FENCED: { retryable: false, meaning: 'Another process has taken the run over' },
  STORE_LOCKED: {
    retryable: true,
    meaning: 'Another process holds the store of this data directory',
  },
  SCHEMA_TOO_NEW: { retryable: false, meaning: 'The store was written by a newer version' },
  REVIEW_REJECTED: {
    retryable: false,
    meaning: 'A reviewer refused the work, and no further try is allowed',
  },
  REVIEW_TIMEOUT: {
    retryable: false,
    meaning: 'A review timed out, and its onTimeout is FAIL',
  },
  RATE_LIMIT_TIMEOUT: { retryable: true, meaning: 'A rate limit gave no turn in time' },
  CONSTRAINT_VIOLATION: {
    retryable: false,
    meaning: 'The manager ended without delegations that are required',
  },
} as const satisfies Record<string, FailureCodeInfo>

/** A code of `FAILURE_CODES`: why a run, task or tool call failed. */
export type FailureCode = keyof typeof FAILURE_CODES

/** True when the text is a code of `ERROR_CODES`; own keys only, so `constructor` is none. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code)
}

/** True when the text is a code of `FAILURE_CODES`. */
export function isFailureCode(code: string): code is FailureCode {
  return Object.hasOwn(FAILURE_CODES, code)
}
