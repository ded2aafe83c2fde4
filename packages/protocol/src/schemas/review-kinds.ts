/** The kinds of reviews, for code without schemas; `enums.ts` explains them. */
export const REVIEW_KINDS = [
  'TASK_INPUT',
  'TASK_OUTPUT',
  'TOOL_CALL',
  'QUESTION',
  'CLIENT_TOOL',
  'EVENT',
] as const
