/** Pure: whether a task that failed is tried again. */
import type { TuttiError } from '@tutti/core'

/** Failures that another attempt cannot mend, or that somebody wanted. */
const FINAL: ReadonlySet<string> = new Set([
  'CANCELLED',
  'EXIT_EARLY',
  'BUDGET_EXCEEDED',
  'CONFIG_INVALID',
  'MODEL_REFUSED',
  'OUTPUT_TRUNCATED',
  'CONTENT_FILTERED',
  'TOOL_CONFIGURATION',
  'GUARDRAIL_VIOLATION',
  'REQUEST_REJECTED',
  'REVIEW_REJECTED',
  'REVIEW_TIMEOUT',
  'CONSTRAINT_VIOLATION',
  'FENCED',
  'INTERRUPTED',
  'STORE_UNAVAILABLE',
])

/** Whether an attempt that failed so may be followed by another. */
export function mayRetry({ code, retryable }: Pick<TuttiError, 'code' | 'retryable'>): boolean {
  if (FINAL.has(code)) return false
  return code === 'MODEL_FAILED' ? retryable : true
}
