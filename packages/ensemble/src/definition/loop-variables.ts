/** Names that loops give: template variables, and keys of judges. */

/** Variables that a loop fills in for each round. */
const ROUND_VARIABLES: ReadonlySet<string> = new Set(['round', 'previous', 'feedback', 'history'])

/** Whether a loop fills in the variable for the task of a round. */
export function isRoundVariable(name: string): boolean {
  return ROUND_VARIABLES.has(name) || name.startsWith('previous.')
}

/** Whether a loop fills in the variable for its judge. */
export function isJudgeVariable(name: string): boolean {
  return isRoundVariable(name) || name === 'output' || name.startsWith('output.')
}

/** Start of the key of a judge; the number of its round follows. */
export const JUDGE_KEY = 'judge-'
