/** The columns that code of all stores reads or writes, once for each table, in the order in which they are written. */
import type { Columns, WrittenForm } from './columns.ts'

/** A run as a list shows it; see `RunRecord`. */
export const LISTED_RUN_COLUMNS = {
  runId: 'id',
  ensemble: 'id',
  workflow: 'word',
  status: 'word',
  tags: 'an object',
  actor: 'a text',
  parent: 'an object',
  threadId: 'id',
  outputTask: 'text',
  build: 'id',
  code: 'id',
  taskCount: 'integer',
  completedTasks: 'integer',
  createdAt: 'time',
  startAt: 'time',
  startBy: 'time',
  priority: 'word',
  fairnessKey: 'id',
  startedAt: 'time',
  completedAt: 'time',
  durationMs: 'count',
  epoch: 'integer',
  lastSeq: 'integer',
} as const satisfies Columns

/** A run, with its columns of unlimited size. */
export const RUN_COLUMNS = {
  ...LISTED_RUN_COLUMNS,
  inputs: 'an object',
  request: 'an object',
  webhooks: 'a list of texts',
  error: 'text',
} as const satisfies Columns

/** The columns of a new run, apart from its tags, which each store indexes in its own way. */
export const NEW_RUN_COLUMNS = {
  runId: RUN_COLUMNS.runId,
  ensemble: RUN_COLUMNS.ensemble,
  workflow: RUN_COLUMNS.workflow,
  taskCount: RUN_COLUMNS.taskCount,
  createdAt: RUN_COLUMNS.createdAt,
  startAt: RUN_COLUMNS.startAt,
  startBy: RUN_COLUMNS.startBy,
  priority: RUN_COLUMNS.priority,
  fairnessKey: RUN_COLUMNS.fairnessKey,
  idempotencyKey: 'key',
  fingerprint: 'text',
  cacheKey: 'key',
  actor: RUN_COLUMNS.actor,
  webhooks: RUN_COLUMNS.webhooks,
  threadId: RUN_COLUMNS.threadId,
  build: RUN_COLUMNS.build,
  code: RUN_COLUMNS.code,
  fixed: 'flag',
} as const satisfies Columns<WrittenForm>

/** The long columns of a new run; the embedded store has them in a separate table. */
export const REQUEST_COLUMNS = {
  inputs: RUN_COLUMNS.inputs,
  request: RUN_COLUMNS.request,
} as const satisfies Columns

/** Columns of a run that a write changes, apart from its status. `costUsd` is set by the end of the run. */
export const RUN_CHANGE_COLUMNS = {
  startedAt: RUN_COLUMNS.startedAt,
  completedAt: RUN_COLUMNS.completedAt,
  durationMs: RUN_COLUMNS.durationMs,
  error: RUN_COLUMNS.error,
  outputTask: RUN_COLUMNS.outputTask,
  taskCount: RUN_COLUMNS.taskCount,
  completedTasks: RUN_COLUMNS.completedTasks,
  lastSeq: RUN_COLUMNS.lastSeq,
  writeNo: 'integer',
  state: 'word',
  costUsd: 'amount',
} as const satisfies Columns

/** The usage of the current attempt, and of earlier ones. */
const USAGE_COLUMNS = {
  inputTokens: 'count',
  outputTokens: 'count',
  toolCallCount: 'count',
  costUsd: 'amount',
  earlierInputTokens: 'count',
  earlierOutputTokens: 'count',
  earlierToolCallCount: 'count',
  earlierCostUsd: 'amount',
} as const satisfies Columns

/** A task; see `StoredTask`. */
export const TASK_COLUMNS = {
  run: 'row',
  taskIndex: 'integer',
  name: 'text',
  description: 'text',
  agentRole: 'text',
  status: 'word',
  attempt: 'integer',
  startedAt: 'time',
  completedAt: 'time',
  durationMs: 'count',
  ...USAGE_COLUMNS,
  output: 'text',
  error: 'text',
  finishReason: 'word',
} as const satisfies Columns

/** A review that opens with a write, and may end with the same. */
export const REVIEW_COLUMNS = {
  run: 'row',
  reviewId: 'id',
  kind: 'word',
  status: 'word',
  request: 'an object',
  openedAt: 'time',
  expiresAt: 'time',
  decidedBy: 'text',
  waitsFor: 'a list of texts',
} as const satisfies Columns

/** The end of a review. */
export const REVIEW_END_COLUMNS = {
  run: 'row',
  reviewId: REVIEW_COLUMNS.reviewId,
  status: REVIEW_COLUMNS.status,
  decidedBy: REVIEW_COLUMNS.decidedBy,
  eventId: 'id',
} as const satisfies Columns

/** An event; the embedded store has one key for the run and the number. */
export const EVENT_COLUMNS = {
  run: 'row',
  seq: 'integer',
  type: 'word',
  data: 'data',
  bytes: 'integer',
} as const satisfies Columns

/** A step; the embedded store has one key for the run and the number. */
export const STEP_COLUMNS = {
  run: 'row',
  n: 'integer',
  seq: 'integer',
  data: 'data',
  bytes: 'integer',
} as const satisfies Columns

/** The answer to a command. */
export const ANSWER_COLUMNS = {
  run: 'row',
  commandId: 'word',
  answer: 'data',
} as const satisfies Columns

/** A delivery that is due at once. */
export const DELIVERY_COLUMNS = {
  run: 'row',
  seq: 'integer',
  webhook: 'text',
} as const satisfies Columns

export const AUDIT_COLUMNS = {
  runId: 'key',
  actor: 'key',
  action: 'key',
  data: 'data',
} as const satisfies Columns

/** A thread without its tags, which each store indexes in its own way. */
export const THREAD_COLUMNS = {
  threadId: 'id',
  title: 'text',
  actor: 'text',
} as const satisfies Columns
