/** For the other packages of Tutti only: what code without schemas needs, such as a thread that must start quickly. */
export { type AddedTaskBody, changeAddedTasks, listAddedTasks } from './added-tasks.ts'
export { BoundedMap } from './bounded-map.ts'
export { type Clock, MAX_TIMER_MS, startTimer, systemClock } from './clock.ts'
export { formatExactJson } from './exact-json.ts'
export { MAX_TIME_MS } from './limits.ts'
export { previewOf } from './problems/preview.ts'
export { shortText } from './problems/short-text.ts'
export { REVIEW_KINDS } from './schemas/review-kinds.ts'
export {
  isTerminalRunStatus,
  isWaitingRunStatus,
  RUN_STATUSES,
  WAITING_RUN_STATUSES,
} from './schemas/run-status.ts'
export { isJsonObject } from './schema-node.ts'
export { addTokens, type TokenTotals } from './usage-sum.ts'
