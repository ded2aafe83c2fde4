/** Returns the number of problems beyond a limit as text, such as "1 more problem". */
export function formatMoreProblems(count: number): string {
  return `${count} more ${count === 1 ? 'problem' : 'problems'}`
}
