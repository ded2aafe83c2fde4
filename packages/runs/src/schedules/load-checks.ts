/** Loads the checks of schedules, and with them the parser of expressions, only where there is a schedule. */
export const loadScheduleChecks = () => import('./definition-problems.ts')
